/* Products of matrices by a warp: each shape and type beside a product by rows and columns, with
 * the fragments' places as the PTX ISA's tables have them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim_fixture.h"

enum { LANES = 32, SIDE = 64, MOST = SIDE * SIDE };

typedef struct form { /* rows and columns of element i, by lane / 4 = g and lane % 4 = t */
    const char *opcode;
    int m, n, k;
    const char *a_row, *a_column, *b_row, *c_row, *c_column;
    const char *types[4]; /* of d, a, b, c */
} form;

#define C16 "i < 2 ? g : g + 8", "t * 2 + (i & 1)"
#define C8 "g", "t * 2 + i"
#define HALVES_8 "i < 2 ? g : g + 8", "t * 2 + (i & 1)", "t * 2 + i", C16
#define HALVES_16                                                                                  \
    "i < 2 || (i >= 4 && i < 6) ? g : g + 8", "t * 2 + (i & 1) + (i >= 4 ? 8 : 0)",                \
        "t * 2 + (i & 1) + (i >= 2 ? 8 : 0)", C16
#define BYTES_16 "i < 4 ? g : g + 8", "t * 4 + (i & 3)", "t * 4 + i", C16
#define BYTES_32                                                                                   \
    "i < 4 || (i >= 8 && i < 12) ? g : g + 8", "t * 4 + (i & 3) + (i >= 8 ? 16 : 0)",              \
        "t * 4 + (i & 3) + (i >= 4 ? 16 : 0)", C16

static const form forms[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, HALVES_8, {"f32", "f16", "f16", "f32"}},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, HALVES_8, {"f16", "f16", "f16", "f16"}},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, HALVES_8, {"f32", "bf16", "bf16", "f32"}},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, HALVES_16, {"f32", "f16", "f16", "f32"}},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, HALVES_16, {"f16", "f16", "f16", "f16"}},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, HALVES_16, {"f32", "bf16", "bf16", "f32"}},
    {"m16n8k4.row.col.f32.tf32.tf32.f32",
     16,
     8,
     4,
     "i == 0 ? g : g + 8",
     "t",
     "t",
     C16,
     {"f32", "tf32", "tf32", "f32"}},
    {"m16n8k8.row.col.f32.tf32.tf32.f32",
     16,
     8,
     8,
     "i == 0 || i == 2 ? g : g + 8",
     "i < 2 ? t : t + 4",
     "i == 0 ? t : t + 4",
     C16,
     {"f32", "tf32", "tf32", "f32"}},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, "g", "t", "t", C8, {"f64", "f64", "f64", "f64"}},
    {"m16n8k8.row.col.f64.f64.f64.f64",
     16,
     8,
     8,
     "i % 2 == 0 ? g : g + 8",
     "i / 2 * 4 + t",
     "i * 4 + t",
     C16,
     {"f64", "f64", "f64", "f64"}},
    {"m16n8k16.row.col.f64.f64.f64.f64",
     16,
     8,
     16,
     "i % 2 == 0 ? g : g + 8",
     "i / 2 * 4 + t",
     "i * 4 + t",
     C16,
     {"f64", "f64", "f64", "f64"}},
    {"m8n8k16.row.col.s32.s8.u8.s32",
     8,
     8,
     16,
     "g",
     "t * 4 + i",
     "t * 4 + i",
     C8,
     {"s32", "s8", "u8", "s32"}},
    {"m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 16, BYTES_16, {"s32", "u8", "s8", "s32"}},
    {"m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, BYTES_32, {"s32", "s8", "s8", "s32"}},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 8, 32, BYTES_32, {"s32", "s8", "s8", "s32"}},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, BYTES_32, {"f32", "e4m3", "e5m2", "f32"}},
    {"m16n8k64.row.col.s32.s4.u4.s32",
     16,
     8,
     64,
     "i < 8 || (i >= 16 && i < 24) ? g : g + 8",
     "t * 8 + (i & 7) + (i >= 16 ? 32 : 0)",
     "t * 8 + (i & 7) + (i >= 8 ? 32 : 0)",
     C16,
     {"s32", "s4", "u4", "s32"}},
};

static int bits_of(const char *type)
{
    int bits = 0;
    if (strcmp(type, "bf16") == 0)
        return 16;
    if (strcmp(type, "tf32") == 0)
        return 32;
    if (type[0] == 'e')
        return 8;
    sscanf(type + 1, "%d", &bits);
    return bits;
}

/* A float with that many bits of exponent and fraction. */
static double small(uint64_t bits, int exponent_bits, int fraction_bits)
{
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double fraction = (double)(bits & ((1u << fraction_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double v = exponent == 0
                   ? ldexp(fraction, 1 - bias - fraction_bits)
                   : ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
    return bits >> (exponent_bits + fraction_bits) & 1 ? -v : v;
}

static double worth(const char *type, uint64_t bits)
{
    double v;
    if (strcmp(type, "f16") == 0)
        return small(bits, 5, 10);
    if (strcmp(type, "bf16") == 0)
        return small(bits, 8, 7);
    if (strcmp(type, "tf32") == 0)
        return small(bits >> 13, 8, 10);
    if (strcmp(type, "f32") == 0)
        return small(bits, 8, 23);
    if (strcmp(type, "e4m3") == 0)
        return small(bits, 4, 3);
    if (strcmp(type, "e5m2") == 0)
        return small(bits, 5, 2);
    if (strcmp(type, "f64") == 0) {
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    int width = bits_of(type);
    int64_t all = (int64_t)bits;
    return (double)(type[0] == 's' && all >> (width - 1) & 1 ? all - ((int64_t)1 << width) : all);
}

/* Bits of a type between -4 and 4 or so, of either sign; any integer. */
static uint64_t some_bits(const char *type, uint64_t random)
{
    static const struct {
        const char *type;
        int exponent_bits, fraction_bits;
    } floats[] = {{"f16", 5, 10}, {"bf16", 8, 7}, {"tf32", 8, 23}, {"f32", 8, 23},
                  {"e4m3", 4, 3}, {"e5m2", 5, 2}, {"f64", 11, 52}};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (strcmp(type, floats[i].type) != 0)
            continue;
        int f = floats[i].fraction_bits, e = floats[i].exponent_bits;
        uint64_t bias = (1u << (e - 1)) - 1;
        return (random >> 63) << (e + f) | (bias + 2 - (random >> 60 & 3)) << f |
               (random & ((UINT64_C(1) << f) - 1));
    }
    int width = bits_of(type);
    return random & ((UINT64_C(1) << width) - 1);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state ^ *state >> 29;
}

static int registers(const form *f, int operand)
{
    int elements = (operand == 1 ? f->m * f->k : operand == 2 ? f->k * f->n : f->m * f->n) / LANES;
    int bits = bits_of(f->types[operand]);
    return bits == 64 ? elements : elements * bits / 32;
}

static void add_names(char *text, size_t size, int first, int count)
{
    size_t n = strlen(text);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%d", i ? ", " : "{", first + i);
    snprintf(text + n, size - n, "}");
}

/* Code that fills the registers of an operand from its matrix, or the other way round. */
static void add_fragment(char *text, size_t size, const form *f, int operand, bool stores)
{
    static const char names[] = "dabc";
    int bits = bits_of(f->types[operand]), each = bits == 64 ? 1 : 32 / bits;
    const char *row = operand == 1 ? f->a_row : operand == 2 ? f->b_row : f->c_row;
    const char *column = operand == 1 ? f->a_column : operand == 2 ? "g" : f->c_column;
    size_t n = strlen(text);
    snprintf(text + n, size - n,
             "for (int i = 0; i < %d; i++) { int row = %s, column = %s, at = row * %d + column;\n"
             "    %s }\n",
             registers(f, operand) * each, row, column, operand == 1 ? f->k : f->n,
             stores ? "D[at] = d[i / EACH] >> i % EACH * BITS & MASK;"
                    : "OF[i / EACH] |= IN[at] << i % EACH * BITS;");
    char each_text[16], bits_text[16], in_text[2] = {(char)(names[operand] - 32), 0},
                                       of_text[2] = {names[operand], 0};
    snprintf(each_text, sizeof each_text, "%d", each);
    snprintf(bits_text, sizeof bits_text, "%d", bits);
    char mask_text[32];
    snprintf(mask_text, sizeof mask_text, "0x%llxull", bits == 64 ? ~0ull : (1ull << bits) - 1);
    const char *const pairs[][2] = {{"EACH", each_text},
                                    {"BITS", bits_text},
                                    {"MASK", mask_text},
                                    {"OF", of_text},
                                    {"IN", in_text}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *found;
        while ((found = strstr(text + n, pairs[i][0]))) {
            char rest[4096];
            snprintf(rest, sizeof rest, "%s", found + strlen(pairs[i][0]));
            snprintf(found, size - (size_t)(found - text), "%s%s", pairs[i][1], rest);
        }
    }
}

static void write_kernel(const form *f, char *text, size_t size)
{
    bool wide = bits_of(f->types[0]) == 64;
    snprintf(
        text, size,
        "typedef unsigned long long word;\n"
        "extern \"C\" __global__ void k(const word *A, const word *B, const word *C, word *D)\n"
        "{\n"
        "int g = threadIdx.x / 4, t = threadIdx.x %% 4;\n"
        "%s a[8] = {0}, b[8] = {0}, c[8] = {0}, d[8];\n",
        wide ? "word" : "unsigned");
    for (int operand = 1; operand < 4; operand++)
        add_fragment(text, size, f, operand, false);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "asm volatile(\"mma.sync.aligned.%s ", f->opcode);
    int first = 0;
    for (int operand = 0; operand < 4; operand++) {
        add_names(text, size, first, registers(f, operand));
        first += registers(f, operand);
        n = strlen(text);
        snprintf(text + n, size - n, "%s", operand < 3 ? ", " : ";\"");
    }
    for (int operand = 0; operand < 4; operand++)
        for (int i = 0; i < registers(f, operand); i++) {
            n = strlen(text);
            snprintf(text + n, size - n, "%s\"%s%s\"(%c[%d])",
                     i > 0         ? ", "
                     : operand < 2 ? " : "
                                   : ", ",
                     operand == 0 ? "=" : "", wide ? "l" : "r", "dabc"[operand], i);
        }
    n = strlen(text);
    snprintf(text + n, size - n, ");\n");
    add_fragment(text, size, f, 0, true);
    n = strlen(text);
    snprintf(text + n, size - n, "}\n");
}

static uint64_t a[MOST], b[MOST], c[MOST], d[MOST];

/* What the product is, and the sum of the sizes of what it is a sum of. */
static double evaluate(const form *f, int row, int column, double *scale)
{
    double v = worth(f->types[3], c[row * f->n + column]);
    *scale = fabs(v);
    for (int k = 0; k < f->k; k++) {
        double one =
            worth(f->types[1], a[row * f->k + k]) * worth(f->types[2], b[k * f->n + column]);
        v += one;
        *scale += fabs(one);
    }
    if (strstr(f->opcode, "satfinite"))
        return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    /* Integers go round. */
    return f->types[0][0] == 's' ? (double)(int32_t)(uint32_t)(int64_t)v : v;
}

static void assert_product(const form *f, uint64_t *random)
{
    char text[16384] = "";
    sim_test t;
    for (int i = 0; i < MOST; i++) {
        a[i] = some_bits(f->types[1], next(random));
        b[i] = some_bits(f->types[2], next(random));
        c[i] = some_bits(f->types[3], next(random));
        d[i] = UINT64_MAX;
    }
    write_kernel(f, text, sizeof text);
    sim_test_init(&t, text, "sm_90", "k");
    sim_test_u64(&t, sim_test_buffer(&t, "A", a, sizeof a, true));
    sim_test_u64(&t, sim_test_buffer(&t, "B", b, sizeof b, true));
    sim_test_u64(&t, sim_test_buffer(&t, "C", c, sizeof c, true));
    sim_test_u64(&t, sim_test_buffer(&t, "D", d, sizeof d, false));
    sim_test_run_well(&t, 1, 1, LANES, 1, 0);
    double allowed = f->types[0][0] == 's'             ? 0
                     : strcmp(f->types[0], "f16") == 0 ? 0x1p-10
                     : strcmp(f->types[0], "f32") == 0 ? 0x1p-22
                                                       : 0x1p-50;
    for (int row = 0; row < f->m; row++)
        for (int column = 0; column < f->n; column++) {
            double scale, wanted = evaluate(f, row, column, &scale),
                          found = worth(f->types[0], d[row * f->n + column]);
            if (!(fabs(found - wanted) <= allowed * scale))
                fail_msg("%s: %.17g in row %d, column %d, not %.17g", f->opcode, found, row, column,
                         wanted);
        }
    sim_test_deinit(&t);
}

TEST(products_are_those_of_rows_and_columns)
{
    uint64_t random = 7;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        assert_product(&forms[i], &random);
}

TEST(what_is_not_a_number_stays_so_in_its_row)
{
    const form *f = &forms[3];
    char text[16384] = "";
    sim_test t;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    memset(c, 0, sizeof c);
    a[2 * 16 + 5] = 0x7c00; /* infinity times zero */
    write_kernel(f, text, sizeof text);
    sim_test_init(&t, text, "sm_90", "k");
    sim_test_u64(&t, sim_test_buffer(&t, "A", a, sizeof a, true));
    sim_test_u64(&t, sim_test_buffer(&t, "B", b, sizeof b, true));
    sim_test_u64(&t, sim_test_buffer(&t, "C", c, sizeof c, true));
    sim_test_u64(&t, sim_test_buffer(&t, "D", d, sizeof d, false));
    sim_test_run_well(&t, 1, 1, LANES, 1, 0);
    for (int i = 0; i < 16 * 8; i++)
        assert_int_equal(d[i], i / 8 == 2 ? 0x7fffffff : 0);
    sim_test_deinit(&t);
}
