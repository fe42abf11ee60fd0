/* Tests matrix products of a warp. Each shape and type is compared with a product row by column.
 * The fragments are placed by the tables of the PTX ISA. */
#include <stdio.h>
#include <string.h>

#include "fault_fixture.h"
#include "matrix_forms.h"

static matrix_data data;

static void prepare(const matrix_form *f, sim_test *t)
{
    static char text[16384];
    matrix_kernel(f, text, sizeof text);
    sim_test_init(t, text, "sm_90", "k");
    sim_test_u64(t, sim_test_buffer(t, "A", data.a, sizeof data.a, true));
    sim_test_u64(t, sim_test_buffer(t, "B", data.b, sizeof data.b, true));
    sim_test_u64(t, sim_test_buffer(t, "C", data.c, sizeof data.c, true));
    sim_test_u64(t, sim_test_buffer(t, "D", data.d, sizeof data.d, false));
    sim_test_u64(t, sim_test_buffer(t, "E", data.indices, sizeof data.indices, true));
}

static void assert_product(const matrix_form *f, uint64_t *random)
{
    int row, column;
    sim_test t;
    matrix_fill(f, random, &data);
    prepare(f, &t);
    sim_test_run_well(&t, 1, 1, MATRIX_THREADS, 1, 0);
    const double distance = matrix_distance(f, &data, &row, &column);
    if (!(distance <= matrix_allowed(f)))
        fail_msg("mma%s %s: row %d, column %d is off by %.3g", f->sparse ? f->sparse : "",
                 f->opcode, row, column, distance);
    sim_test_deinit(&t);
}

TEST(products_equal_the_sums_over_rows_and_columns)
{
    uint64_t random = 7;
    for (const matrix_form *f = matrix_forms; f->opcode; f++)
        assert_product(f, &random);
}

/* Asserts a product of elements smaller than a byte. Rows of a and columns of b have a gap. */
static void assert_small_product(const char *type, int bits, int k, const char *operation)
{
    enum { SIDE = 8, MOST_BYTES = 32 };
    static const char kernel[] =
        "extern \"C\" __global__ void k(const int *a, const int *b, int *d)\n{\n"
        "asm volatile(\"{.reg .b32 a, b, c, d; mov.b32 c, 7; mov.b32 d, -5;\"\n"
        "\"wmma.load.a.sync.aligned.row.m8n8k%d.global.%s {a}, [%%0], %d;\"\n"
        "\"wmma.load.b.sync.aligned.col.m8n8k%d.global.%s {b}, [%%1], %d;\"\n"
        "\"wmma.mma%s.sync.aligned.row.col.m8n8k%d.s32.%s.%s.s32 {c, d}, {a}, {b}, {c, d};\"\n"
        "\"wmma.store.d.sync.aligned.row.m8n8k%d.global.s32 [%%2], {c, d}, 8;}\"\n"
        ":: \"l\"(a), \"l\"(b), \"l\"(d) : \"memory\");\n}\n";
    static uint8_t a[SIDE * MOST_BYTES], b[SIDE * MOST_BYTES];
    static int32_t found[SIDE * SIDE];
    char text[2048];
    sim_test t;
    const int stride = 2 * k, row_bytes = stride * bits / 8;
    for (int i = 0; i < SIDE * MOST_BYTES; i++) {
        a[i] = (uint8_t)(i * 37 + i / 5);
        b[i] = (uint8_t)(i * 101 + i / 7);
    }
    snprintf(text, sizeof text, kernel, k, type, stride, k, type, stride, operation, k, type, type,
             k);
    sim_test_init(&t, text, "sm_90", "k");
    sim_test_u64(&t, sim_test_buffer(&t, "a", a, sizeof a, true));
    sim_test_u64(&t, sim_test_buffer(&t, "b", b, sizeof b, true));
    sim_test_u64(&t, sim_test_buffer(&t, "d", found, sizeof found, false));
    sim_test_run_well(&t, 1, 1, MATRIX_THREADS, 1, 0);
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            int32_t sum = column % 2 ? -5 : 7;
            for (int i = 0; i < k; i++) {
                int of_a = a[row * row_bytes + i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1),
                    of_b = b[column * row_bytes + i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1);
                if (type[0] == 's') {
                    of_a -= of_a >= 8 ? 16 : 0;
                    of_b -= of_b >= 8 ? 16 : 0;
                }
                sum += strstr(operation, "xor") ? of_a != of_b : of_a * of_b;
            }
            if (found[row * SIDE + column] != sum)
                fail_msg("%s%s: row %d, column %d is %d, not %d", type, operation, row, column,
                         found[row * SIDE + column], sum);
        }
    sim_test_deinit(&t);
}

TEST(fragments_of_elements_below_a_byte_are_loaded)
{
    assert_small_product("s4", 4, 32, "");
    assert_small_product("u4", 4, 32, "");
    assert_small_product("b1", 1, 128, ".xor.popc");
    assert_small_product("b1", 1, 128, ".and.popc");
}

static const matrix_form *form_of(const char *opcode, const char *sparse)
{
    const matrix_form *f = matrix_forms;
    while (strcmp(f->opcode, opcode) != 0 || strcmp(f->sparse ? f->sparse : "", sparse) != 0)
        f++;
    return f;
}

TEST(a_nan_stays_in_its_row)
{
    const matrix_form *f = form_of("m16n8k16.row.col.f32.f16.f16.f32", "");
    sim_test t;
    memset(&data, 0, sizeof data);
    data.a[2 * 16 + 5] = 0x7c00; /* infinity, which the product multiplies by 0 */
    prepare(f, &t);
    sim_test_run_well(&t, 1, 1, MATRIX_THREADS, 1, 0);
    for (int i = 0; i < 16 * 8; i++)
        assert_int_equal(data.d[i], i / 8 == 2 ? 0x7fffffff : 0);
    sim_test_deinit(&t);
}

/* Computes a sparse product. These are the indices of the first two elements of a. */
static sim_fault_kind fault_with(const matrix_form *f, int first, int second, sim_test *t)
{
    uint64_t random = 3;
    matrix_fill(f, &random, &data);
    data.indices[0] = (uint8_t)first;
    data.indices[1] = (uint8_t)second;
    prepare(f, t);
    return sim_test_run(t, 1, 1, MATRIX_THREADS, 1, 0);
}

TEST(invalid_metadata_is_a_fault)
{
    const char *halves = "m16n8k32.row.col.f32.f16.f16.f32",
               *singles = "m16n8k8.row.col.f32.tf32.tf32.f32";
    const struct {
        const char *opcode;
        int first, second;
        sim_fault_kind kind;
    } cases[] = {{halves, 0, 3, SIM_FAULT_NONE},     {halves, 2, 2, SIM_FAULT_SHUFFLE},
                 {halves, 3, 1, SIM_FAULT_SHUFFLE},  {singles, 0, 1, SIM_FAULT_NONE},
                 {singles, 2, 3, SIM_FAULT_NONE},    {singles, 1, 2, SIM_FAULT_SHUFFLE},
                 {singles, 0, 0, SIM_FAULT_SHUFFLE}, {singles, 0, 3, SIM_FAULT_SHUFFLE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sim_test t;
        const sim_fault_kind kind = fault_with(form_of(cases[i].opcode, ".sp::ordered_metadata"),
                                               cases[i].first, cases[i].second, &t);
        if (kind != cases[i].kind)
            fail_msg("%s with %d and %d: %s", cases[i].opcode, cases[i].first, cases[i].second,
                     t.fault.message);
        if (kind)
            assert_story(&t, "the metadata");
        sim_test_deinit(&t);
    }
}

/* Runs a sparse product. In each four lanes, only the first `lanes` lanes have metadata. */
static void metadata_of(int lanes, sim_fault_kind kind)
{
    char body[1024];
    snprintf(body, sizeof body,
             "float d; asm volatile(\"{.reg .pred q; .reg .b32 t, e, z; .reg .f32 f<4>;\"\n"
             "\"mov.u32 t, %%tid.x; and.b32 t, t, 3; setp.lt.u32 q, t, %d; mov.b32 z, 0;\"\n"
             "\"@q mov.b32 e, 0x44444444;\"\n"
             "\"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \"\n"
             "\"{f0, f1, f2, f3}, {z, z}, {z, z}, {z, z, z, z}, e, 1; mov.f32 %%0, f0;}\" : "
             "\"=f\"(d));\n"
             "out[threadIdx.x] = (int)d;",
             lanes);
    assert_fault(body, 1, 32, kind, kind ? "the metadata of a sparse row" : NULL);
}

TEST(missing_metadata_is_a_fault)
{
    metadata_of(1, SIM_FAULT_UNINITIALISED);
    metadata_of(2, SIM_FAULT_NONE);
}
