#include "warpgroup_forms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "element_worth.h"

enum { B_AT = 32768 };

const warpgroup_form warpgroup_forms[] = {
    {"f32.f16.f16", 64, 16, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.f16.f16", 64, 32, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.f16.f16", 64, 64, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.f16.f16", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.f16.f16", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true, .offset = 32},
    {"f32.f16.f16", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true, .offset = 96},
    {"f32.bf16.bf16", 256, 128, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.bf16.bf16", 8, 128, .scale_a = -1, .scale_b = 1, .keeps = true},
    {"f32.bf16.bf16", 24, 64, .scale_a = 1, .scale_b = -1, .keeps = false},
    {"f32.bf16.bf16", 40, 64, .scale_a = -1, .scale_b = -1, .keeps = true},
    {"f16.f16.f16", 128, 128, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f16.f16.f16", 16, 32, .scale_a = 1, .scale_b = -1, .keeps = false},
    {"f32.f16.f16", 64, 16, .turned_a = true, .turned_b = true, .scale_a = 1, .scale_b = 1},
    {"f32.f16.f16", 48, 32, .turned_a = true, .turned_b = true, .scale_a = 1, .scale_b = 1},
    {"f32.f16.f16", 96, 64, .turned_a = true, .turned_b = true, .scale_a = 1, .scale_b = 1},
    {"f32.f16.f16", 256, 128, .turned_a = true, .turned_b = true, .scale_a = 1, .scale_b = 1},
    {"f32.f16.f16", 128, 128, .turned_a = true, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.bf16.bf16", 128, 128, .turned_b = true, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.bf16.bf16", 128, 128, .a_in_registers = true, .turned_b = true, .scale_a = 1,
     .scale_b = -1, .keeps = true},
    {"f16.f16.f16", 64, 64, .a_in_registers = true, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.tf32.tf32", 32, 128, .scale_a = 1, .scale_b = -1, .keeps = true},
    {"f32.tf32.tf32", 72, 32, .a_in_registers = true, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f32.e4m3.e5m2", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"f16.e5m2.e4m3", 64, 16, .a_in_registers = true, .scale_a = 1, .scale_b = 1, .keeps = true},
    {"s32.s8.u8", 64, 128, .keeps = true},
    {"s32.u8.s8", 96, 64, .a_in_registers = true, .keeps = true},
    {"satfinite.s32.s8.s8", 16, 16, .keeps = true},
    {"s32.b1.b1.and.popc", 32, 128, .keeps = true},
    {"s32.b1.b1.and.popc", 128, 32, .a_in_registers = true, .keeps = true},
    {"f32.f16.f16", 64, 128, .scale_a = 1, .scale_b = 1, .base = 3},
    {"f32.f16.f16", 64, 64, .scale_a = 1, .scale_b = 1, .base = 1},
    {"f32.f16.f16", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true, .sparse = true},
    {"f32.f16.f16", 40, 64, .scale_a = 1, .scale_b = -1, .sparse = true, .selector = 1},
    {"f32.bf16.bf16", 64, 16, .scale_a = 1, .scale_b = 1, .keeps = true, .sparse = true},
    {"f16.f16.f16", 96, 128, .turned_a = true, .turned_b = true, .scale_a = 1, .scale_b = 1,
     .sparse = true, .selector = 1},
    {"f32.bf16.bf16", 64, 32, .turned_b = true, .scale_a = 1, .scale_b = 1, .keeps = true,
     .a_in_registers = true, .sparse = true},
    {"f32.tf32.tf32", 32, 128, .scale_a = -1, .scale_b = 1, .keeps = true, .sparse = true,
     .selector = 1},
    {"f32.tf32.tf32", 24, 64, .a_in_registers = true, .scale_a = 1, .scale_b = 1, .sparse = true},
    {"f32.e5m2.e4m3", 64, 128, .scale_a = 1, .scale_b = 1, .keeps = true, .sparse = true},
    {"satfinite.s32.s8.u8", 32, 64, .a_in_registers = true, .keeps = true, .sparse = true},
    {"s32.u8.u8", 256, 128, .sparse = true},
    {0},
};

typedef enum operand { D, A, B } operand;

/* Returns the type of an operand, cut out of the opcode. */
static void type_of(const warpgroup_form *f, operand o, char text[8])
{
    const char *types = f->types + (strncmp(f->types, "satfinite.", 10) == 0 ? 10 : 0);
    for (int i = 0; i < (int)o; i++)
        types = strchr(types, '.') + 1;
    snprintf(text, 8, "%.*s", (int)strcspn(types, "."), types);
}

static int bits_of(const warpgroup_form *f, operand o)
{
    char type[8];
    type_of(f, o, type);
    return element_bits(type);
}

/* Strides of an operand in shared memory, in bytes, as in its descriptor. */
typedef struct strides {
    int leading, stride;
} strides;

static strides strides_of(const warpgroup_form *f, operand o)
{
    const bool turned = o == A ? f->turned_a : f->turned_b;
    const int across = o == A ? WARPGROUP_ROWS : f->n;
    if (!turned && f->swizzle == 16)
        return (strides){across * 16 + 16, 128}; /* a gap of 16 bytes follows each column */
    if (!turned)
        return (strides){16, 8 * f->swizzle};
    if (f->swizzle == 16)
        return (strides){across * 16 + 128, 128};
    return (strides){(o == B && f->sparse ? 4096 : 2048) / 128 * f->swizzle, 8 * f->swizzle};
}

/* Returns the position of an element in shared memory. `across` is a row of a or a column of b. */
static int place_of(const warpgroup_form *f, operand o, int across, int k, int byte_of_k)
{
    const strides s = strides_of(f, o);
    const bool turned = o == A ? f->turned_a : f->turned_b;
    const int pattern = (o == A ? 0 : B_AT) + f->base * 128, reach = f->swizzle / 2;
    int at = pattern + f->offset;
    if (!turned && f->swizzle == 16)
        at += across / 8 * s.stride + across % 8 * 16 + byte_of_k / 16 * s.leading + byte_of_k % 16;
    else if (!turned)
        at += across / 8 * s.stride + across % 8 * f->swizzle + byte_of_k;
    else if (f->swizzle == 16)
        at += across / 8 * s.stride + k / 8 * s.leading + k % 8 * 16 + across % 8 * 2;
    else
        at +=
            across / reach * s.leading + k / 8 * s.stride + k % 8 * f->swizzle + across % reach * 2;
    if (turned)
        at += byte_of_k % 2;
    return at ^ ((at - pattern) / 128 & (f->swizzle / 16 - 1)) * 16;
}

static void put_operand(const warpgroup_form *f, uint8_t *image, operand o, int across, int k,
                        uint32_t bits)
{
    const int width = bits_of(f, o);
    if (width == 1) {
        image[place_of(f, o, across, k, k / 8)] |= (uint8_t)(bits << k % 8);
        return;
    }
    for (int i = 0; i < width / 8; i++)
        image[place_of(f, o, across, k, k * (width / 8) + i)] = (uint8_t)(bits >> 8 * i);
}

static uint64_t descriptor_of(const warpgroup_form *f, operand o)
{
    static const int modes[] = {[1] = 0, [2] = 3, [4] = 2, [8] = 1};
    const strides s = strides_of(f, o);
    const int begin = (o == A ? 0 : B_AT) + f->base * 128 + f->offset;
    return (uint64_t)begin / 16 | (uint64_t)s.leading / 16 << 16 | (uint64_t)s.stride / 16 << 32 |
           (uint64_t)f->base << 49 | (uint64_t)modes[f->swizzle / 16] << 62;
}

/* Returns the number of stored elements of a row of a or of a column of b. */
static int held_of(const warpgroup_form *f)
{
    return 256 / bits_of(f, A);
}

static int k_of(const warpgroup_form *f)
{
    return held_of(f) * (f->sparse ? 2 : 1);
}

/* Chooses the stored elements: two of four in each row, or one of two for tf32. The figures of
 * mma.sp in the PTX ISA show the lanes that hold the metadata. A warp has 16 rows. */
static void fill_metadata(const warpgroup_form *f, warpgroup_data *d, uint64_t *random)
{
    const bool is_single = bits_of(f, A) == 32, is_byte = bits_of(f, A) == 8;
    memset(d->metadata, 0xff, sizeof d->metadata);
    for (int row = 0; f->sparse && row < WARPGROUP_ROWS; row++)
        for (int group = 0; group < 8 * (is_byte ? 2 : 1); group++) {
            const int low = is_single ? (int)(random_bits(random) & 1) * 2
                                      : (int)(random_bits(random) % 3),
                      high = is_single ? low + 1
                                       : low + 1 + (int)(random_bits(random) % (unsigned)(3 - low));
            const int first_lane = row / 16 * 32 + row % 8 * 4, upper = row / 8 % 2;
            const int thread = is_byte ? first_lane + group / 8 * 2 + upper
                                       : first_lane + f->selector * 2 + group / 4;
            const int shift = is_byte ? group % 8 * 4 : upper * 16 + group % 4 * 4;
            d->metadata[thread] =
                (d->metadata[thread] & ~(15u << shift)) | (uint32_t)(low | high << 2) << shift;
            if (is_single) {
                d->columns[row][group] = (uint8_t)(group * 2 + low / 2);
                continue;
            }
            d->columns[row][group * 2] = (uint8_t)(group * 4 + low);
            d->columns[row][group * 2 + 1] = (uint8_t)(group * 4 + high);
        }
    for (int row = 0; !f->sparse && row < WARPGROUP_ROWS; row++)
        for (int k = 0; k < k_of(f); k++)
            d->columns[row][k] = (uint8_t)k;
}

void warpgroup_fill(const warpgroup_form *f, warpgroup_data *d)
{
    char type[3][8];
    const int k_count = k_of(f), held = held_of(f), of_a = 32 / bits_of(f, A),
              of_d = bits_of(f, D) == 16 ? 2 : 1;
    uint64_t random = 1;
    for (int i = 0; i < 3; i++)
        type_of(f, (operand)i, type[i]);
    memset(d, 0, sizeof *d);
    d->at_a = descriptor_of(f, A);
    d->at_b = descriptor_of(f, B);
    for (int i = 0; i < WARPGROUP_ROWS; i++)
        for (int k = 0; k < held; k++)
            put_operand(f, d->image, A, i, k,
                        d->a[i][k] = (uint32_t)element_random(type[A], &random));
    for (int j = 0; j < f->n; j++)
        for (int k = 0; k < k_count; k++)
            put_operand(f, d->image, B, j, k,
                        d->b[j][k] = (uint32_t)element_random(type[B], &random));
    for (int i = 0; i < WARPGROUP_ROWS; i++)
        for (int j = 0; j < f->n; j++)
            d->c[i][j] = (uint32_t)element_random(type[D], &random);
    fill_metadata(f, d, &random);
    for (int t = 0; t < WARPGROUP_THREADS; t++) {
        const int row = t / 32 * 16 + t % 32 / 4, of_four = t % 4;
        for (int r = 0; r < 4; r++)
            for (int e = 0; e < of_a; e++)
                d->a_registers[t][r] |= d->a[row + r % 2 * 8][(r / 2 * 4 + of_four) * of_a + e]
                                        << e * bits_of(f, A);
        for (int i = 0; i < f->n / 2; i++)
            d->d_registers[t][i / of_d] |=
                d->c[row + i / 2 % 2 * 8][i / 4 * 8 + of_four * 2 + i % 2] << i % of_d * 16;
    }
}

void warpgroup_kernel(const warpgroup_form *f, char *text, size_t size)
{
    const int of_d = f->n / 2 / (bits_of(f, D) == 16 ? 2 : 1), of_a = f->a_in_registers ? 4 : 0;
    const bool floats = strncmp(f->types, "f32", 3) == 0, whole = strstr(f->types, "s32") != NULL;
    size_t n = (size_t)snprintf(
        text, size,
        "extern \"C\" __global__ void k(const unsigned *image, const unsigned *A, unsigned *D,\n"
        "    unsigned long long at_a, unsigned long long at_b, int keeps, const unsigned "
        "*metadata)\n"
        "{\n"
        "extern __shared__ __align__(1024) unsigned shared[];\n"
        "const unsigned long long begin = __cvta_generic_to_shared(shared) >> 4;\n"
        "at_a += begin; at_b += begin;\n"
        "%s d[%d]; unsigned a[4];\n"
        "for (int i = threadIdx.x; i < %d; i += 128) shared[i] = image[i];\n"
        "for (int i = 0; i < %d; i++) d[i] = %s(D[threadIdx.x * 128 + i]);\n"
        "for (int i = 0; i < 4; i++) a[i] = A[threadIdx.x * 4 + i];\n"
        "const unsigned e = metadata[threadIdx.x];\n"
        "asm volatile(\"fence.proxy.async;\" ::: \"memory\");\n"
        "__syncthreads();\n"
        "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
        "asm volatile(\"{.reg .pred p; setp.ne.b32 p, %%%d, 0;\"\n"
        "\"wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s {",
        floats ? "float" : "unsigned", of_d, WARPGROUP_IMAGE_BYTES / 4, of_d,
        floats ? "__uint_as_float" : "", of_d + (of_a ? of_a : 1) + 1, f->sparse ? ".sp" : "", f->n,
        k_of(f), f->types);
    char sparse[32] = "";
    if (f->sparse)
        snprintf(sparse, sizeof sparse, ", %%%d, %d", of_d + (of_a ? of_a : 1) + 2, f->selector);
    for (int i = 0; i < of_d; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%d", i ? "," : "", i);
    if (of_a)
        n += (size_t)snprintf(text + n, size - n, "}, {%%%d,%%%d,%%%d,%%%d}, %%%d%s, p", of_d,
                              of_d + 1, of_d + 2, of_d + 3, of_d + 4, sparse);
    else
        n += (size_t)snprintf(text + n, size - n, "}, %%%d, %%%d%s, p", of_d, of_d + 1, sparse);
    if (!whole)
        n += (size_t)snprintf(text + n, size - n, ", %d, %d", f->scale_a, f->scale_b);
    if (!whole && bits_of(f, A) == 16 && !of_a)
        n += (size_t)snprintf(text + n, size - n, ", %d", f->turned_a);
    if (!whole && bits_of(f, A) == 16)
        n += (size_t)snprintf(text + n, size - n, ", %d", f->turned_b);
    n += (size_t)snprintf(text + n, size - n, ";}\" : ");
    for (int i = 0; i < of_d; i++)
        n += (size_t)snprintf(text + n, size - n, "%s\"+%c\"(d[%d])", i ? ", " : "",
                              floats ? 'f' : 'r', i);
    for (int i = 0; i < of_a; i++)
        n += (size_t)snprintf(text + n, size - n, "%s\"r\"(a[%d])", i ? ", " : " : ", i);
    snprintf(text + n, size - n,
             "%s \"l\"(at_b), \"r\"(keeps), \"r\"(e) : \"memory\");\n"
             "asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
             "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n"
             "for (int i = 0; i < %d; i++) D[threadIdx.x * 128 + i] = %s(d[i]);\n"
             "}\n",
             of_a ? "," : " : \"l\"(at_a),", of_d, floats ? "__float_as_uint" : "");
}

static double evaluate(const warpgroup_form *f, const warpgroup_data *d, int row, int column,
                       double *scale)
{
    char type[3][8];
    for (int i = 0; i < 3; i++)
        type_of(f, (operand)i, type[i]);
    double v = f->keeps ? element_worth(type[D], d->c[row][column]) : 0;
    const bool whole = strcmp(type[D], "s32") == 0;
    *scale = fabs(v);
    for (int k = 0; k < held_of(f); k++) {
        const double one = element_worth(type[A], d->a[row][k]) *
                           element_worth(type[B], d->b[column][d->columns[row][k]]) *
                           (whole ? 1 : f->scale_a * f->scale_b);
        v += one;
        *scale += fabs(one);
    }
    if (strncmp(f->types, "satfinite", 9) == 0)
        return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    return whole ? (double)(int32_t)(uint32_t)(int64_t)v : v;
}

double warpgroup_distance(const warpgroup_form *f, const warpgroup_data *d, int *row, int *column)
{
    char type[8];
    type_of(f, D, type);
    const int of_d = strcmp(type, "f16") == 0 ? 2 : 1;
    const bool whole = strcmp(type, "s32") == 0;
    double worst = 0;
    *row = *column = 0;
    for (int thread = 0; thread < WARPGROUP_THREADS; thread++)
        for (int i = 0; i < f->n / 2; i++) {
            const int at[2] = {thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
                               i / 4 * 8 + thread % 4 * 2 + i % 2};
            const uint32_t bits = d->d_registers[thread][i / of_d] >> i % of_d * 16;
            double scale,
                wanted = evaluate(f, d, at[0], at[1], &scale),
                apart = fabs(element_worth(type, of_d == 2 ? bits & 0xffff : bits) - wanted);
            apart = whole ? (apart == 0 ? 0 : INFINITY) : apart / scale;
            if (apart <= worst)
                continue;
            worst = apart == apart ? apart : INFINITY;
            *row = at[0];
            *column = at[1];
        }
    return worst;
}

double warpgroup_allowed(const warpgroup_form *f)
{
    return bits_of(f, D) == 16 ? 0x1p-10 : 0x1p-22;
}
