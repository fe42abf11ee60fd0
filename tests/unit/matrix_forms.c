#include "matrix_forms.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "element_worth.h"

enum { LANES = 32 };

#define C16 "i < 2 ? g : g + 8", "t * 2 + (i & 1)"
#define C8 "g", "t * 2 + i"
#define QUAD "g % 4 * 8 + g / 4 * 4 + "
#define A_ROWS QUAD "t", "i"
#define A_COLUMNS QUAD "i", "t"
#define C_HALVES QUAD "t", "i"
#define C_SINGLES QUAD "(t & 1) + (i & 2)", "(i & 4) + (t & 2) + (i & 1)"
#define B_ROWS .products = 4, .b_column = QUAD "i"
#define B_COLUMNS .products = 4, .b_column = QUAD "t"
#define SINGLES .types = {"f32", "f16", "f16", "f32"}
#define HALVES .types = {"f16", "f16", "f16", "f16"}
#define HALVES_8 "i < 2 ? g : g + 8", "t * 2 + (i & 1)", "t * 2 + i", C16
#define HALVES_16                                                                                  \
    "i < 2 || (i >= 4 && i < 6) ? g : g + 8", "t * 2 + (i & 1) + (i >= 4 ? 8 : 0)",                \
        "t * 2 + (i & 1) + (i >= 2 ? 8 : 0)", C16
#define BYTES_16 "i < 4 ? g : g + 8", "t * 4 + (i & 3)", "t * 4 + i", C16
#define BYTES_32                                                                                   \
    "i < 4 || (i >= 8 && i < 12) ? g : g + 8", "t * 4 + (i & 3) + (i >= 8 ? 16 : 0)",              \
        "t * 4 + (i & 3) + (i >= 4 ? 16 : 0)", C16

#define BITS_128 "g", "t * 32 + i", "t * 32 + i", C8
#define BITS_256                                                                                   \
    "i < 32 || (i >= 64 && i < 96) ? g : g + 8", "t * 32 + (i & 31) + (i >= 64 ? 128 : 0)",        \
        "t * 32 + (i & 31) + (i >= 32 ? 128 : 0)", C16

/* Positions of operands if rows of a are sparse. Only stored columns of a are counted. */
#define SPARSE_16 "i < 2 ? g : g + 8", "t * 2 + (i & 1)", "t * 2 + (i & 1) + (i >= 2 ? 8 : 0)", C16
#define SPARSE_32                                                                                  \
    "i < 2 || (i >= 4 && i < 6) ? g : g + 8", "t * 2 + (i & 1) + (i >= 4 ? 8 : 0)",                \
        "t * 2 + (i & 1) + i / 2 * 8", C16
#define SPARSE_TF32_8 "i == 0 ? g : g + 8", "t", "i == 0 ? t : t + 4", C16
#define SPARSE_TF32_16 "i == 0 || i == 2 ? g : g + 8", "i < 2 ? t : t + 4", "t + i * 4", C16
#define SPARSE_BYTES_32                                                                            \
    "i < 4 ? g : g + 8", "t * 4 + (i & 3)", "t * 4 + (i & 3) + (i >= 4 ? 16 : 0)", C16
#define SPARSE_BYTES_64                                                                            \
    "i < 4 || (i >= 8 && i < 12) ? g : g + 8", "t * 4 + (i & 3) + (i >= 8 ? 16 : 0)",              \
        "t * 4 + (i & 3) + i / 4 * 16", C16
#define SPARSE_4_64                                                                                \
    "i < 8 ? g : g + 8", "t * 8 + (i & 7)", "t * 8 + (i & 7) + (i >= 8 ? 32 : 0)", C16
#define SPARSE_4_128                                                                               \
    "i < 8 || (i >= 16 && i < 24) ? g : g + 8", "t * 8 + (i & 7) + (i >= 16 ? 32 : 0)",            \
        "t * 8 + (i & 7) + i / 8 * 32", C16

/* Metadata of sparse rows: row, and number of index i in a word; lanes that hold the word. */
#define ONE_LANE "i < 8 ? g : g + 8", "i & 7", "t == SELECTOR"
#define TWO_LANES "i < 8 ? g : g + 8", "(t & 1) * 8 + (i & 7)", "t / 2 == SELECTOR"
#define LANE_A_ROW "t & 1 ? g + 8 : g", "i", "t / 2 == SELECTOR"
#define ALL_LANES "t & 1 ? g + 8 : g", "t / 2 * 16 + i", "true"

const matrix_form matrix_forms[] = {
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, HALVES_8, .types = {"f32", "f16", "f16", "f32"}},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, HALVES_8, .types = {"f16", "f16", "f16", "f16"}},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, HALVES_8,
     .types = {"f32", "bf16", "bf16", "f32"}},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, HALVES_16,
     .types = {"f32", "f16", "f16", "f32"}},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, HALVES_16,
     .types = {"f16", "f16", "f16", "f16"}},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, HALVES_16,
     .types = {"f32", "bf16", "bf16", "f32"}},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, "i == 0 ? g : g + 8", "t", "t", C16,
     .types = {"f32", "tf32", "tf32", "f32"}},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, "i == 0 || i == 2 ? g : g + 8",
     "i < 2 ? t : t + 4", "i == 0 ? t : t + 4", C16, .types = {"f32", "tf32", "tf32", "f32"}},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, "g", "t", "t", C8,
     .types = {"f64", "f64", "f64", "f64"}},
    {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, "i % 2 == 0 ? g : g + 8", "i / 2 * 4 + t",
     "i * 4 + t", C16, .types = {"f64", "f64", "f64", "f64"}},
    {"m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, "i % 2 == 0 ? g : g + 8", "i / 2 * 4 + t",
     "i * 4 + t", C16, .types = {"f64", "f64", "f64", "f64"}},
    {"m8n8k16.row.col.s32.s8.u8.s32", 8, 8, 16, "g", "t * 4 + i", "t * 4 + i", C8,
     .types = {"s32", "s8", "u8", "s32"}},
    {"m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 16, BYTES_16, .types = {"s32", "u8", "s8", "s32"}},
    {"m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, BYTES_32, .types = {"s32", "s8", "s8", "s32"}},
    {"m16n8k32.row.col.satfinite.s32.s8.s8.s32", 16, 8, 32, BYTES_32,
     .types = {"s32", "s8", "s8", "s32"}},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, BYTES_32,
     .types = {"f32", "e4m3", "e5m2", "f32"}},
    {"m16n8k64.row.col.s32.s4.u4.s32", 16, 8, 64, "i < 8 || (i >= 16 && i < 24) ? g : g + 8",
     "t * 8 + (i & 7) + (i >= 16 ? 32 : 0)", "t * 8 + (i & 7) + (i >= 8 ? 32 : 0)", C16,
     .types = {"s32", "s4", "u4", "s32"}},
    /* Forms that compute four products at once. */
    {"m8n8k4.row.col.f32.f16.f16.f32", 8, 8, 4, A_ROWS, "i", C_SINGLES, SINGLES, B_COLUMNS},
    {"m8n8k4.row.row.f32.f16.f16.f32", 8, 8, 4, A_ROWS, "t", C_SINGLES, SINGLES, B_ROWS},
    {"m8n8k4.col.col.f32.f16.f16.f32", 8, 8, 4, A_COLUMNS, "i", C_SINGLES, SINGLES, B_COLUMNS},
    {"m8n8k4.col.row.f32.f16.f16.f32", 8, 8, 4, A_COLUMNS, "t", C_SINGLES, SINGLES, B_ROWS},
    {"m8n8k4.row.col.f16.f16.f16.f16", 8, 8, 4, A_ROWS, "i", C_HALVES, HALVES, B_COLUMNS},
    {"m8n8k4.col.row.f16.f16.f16.f16", 8, 8, 4, A_COLUMNS, "t", C_HALVES, HALVES, B_ROWS},

    /* Forms of products of bits. */
    {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 8, 128, BITS_128,
     .types = {"s32", "b1", "b1", "s32"}},
    {"m8n8k128.row.col.s32.b1.b1.s32.and.popc", 8, 8, 128, BITS_128,
     .types = {"s32", "b1", "b1", "s32"}},
    {"m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 128, "i < 32 ? g : g + 8",
     "t * 32 + (i & 31)", "t * 32 + i", C16, .types = {"s32", "b1", "b1", "s32"}},
    {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 256, BITS_256,
     .types = {"s32", "b1", "b1", "s32"}},
    {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 8, 256, BITS_256,
     .types = {"s32", "b1", "b1", "s32"}},

    /* Forms with sparse rows of a. */
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, SPARSE_16,
     .types = {"f32", "f16", "f16", "f32"}, ".sp", 8, ONE_LANE, .selector = 0},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, SPARSE_16,
     .types = {"f16", "f16", "f16", "f16"}, ".sp::ordered_metadata", 8, ONE_LANE, .selector = 1},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, SPARSE_16,
     .types = {"f32", "bf16", "bf16", "f32"}, ".sp::ordered_metadata", 8, ONE_LANE, .selector = 2},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, SPARSE_16,
     .types = {"f32", "bf16", "bf16", "f32"}, ".sp::ordered_metadata", 8, ONE_LANE, .selector = 3},
    {"m16n8k32.row.col.f32.f16.f16.f32", 16, 8, 32, SPARSE_32,
     .types = {"f32", "f16", "f16", "f32"}, ".sp::ordered_metadata", 16, TWO_LANES, .selector = 0},
    {"m16n8k32.row.col.f32.bf16.bf16.f32", 16, 8, 32, SPARSE_32,
     .types = {"f32", "bf16", "bf16", "f32"}, ".sp", 16, TWO_LANES, .selector = 1},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, SPARSE_TF32_8,
     .types = {"f32", "tf32", "tf32", "f32"}, ".sp::ordered_metadata", 8, ONE_LANE, .selector = 3},
    {"m16n8k16.row.col.f32.tf32.tf32.f32", 16, 8, 16, SPARSE_TF32_16,
     .types = {"f32", "tf32", "tf32", "f32"}, ".sp::ordered_metadata", 16, TWO_LANES,
     .selector = 1},
    {"m16n8k32.row.col.s32.s8.u8.s32", 16, 8, 32, SPARSE_BYTES_32,
     .types = {"s32", "s8", "u8", "s32"}, ".sp::ordered_metadata", 16, LANE_A_ROW, .selector = 0},
    {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 16, 8, 32, SPARSE_BYTES_32,
     .types = {"s32", "u8", "s8", "s32"}, ".sp", 16, LANE_A_ROW, .selector = 1},
    {"m16n8k64.row.col.s32.s8.s8.s32", 16, 8, 64, SPARSE_BYTES_64,
     .types = {"s32", "s8", "s8", "s32"}, ".sp::ordered_metadata", 32, ALL_LANES, .selector = 0},
    {"m16n8k64.row.col.f32.e4m3.e5m2.f32", 16, 8, 64, SPARSE_BYTES_64,
     .types = {"f32", "e4m3", "e5m2", "f32"}, ".sp::ordered_metadata", 32, ALL_LANES,
     .selector = 0},
    {"m16n8k64.row.col.s32.s4.u4.s32", 16, 8, 64, SPARSE_4_64, .types = {"s32", "s4", "u4", "s32"},
     ".sp::ordered_metadata", 16, LANE_A_ROW, .selector = 1},
    {"m16n8k128.row.col.s32.u4.s4.s32", 16, 8, 128, SPARSE_4_128,
     .types = {"s32", "u4", "s4", "s32"}, ".sp::ordered_metadata", 32, ALL_LANES, .selector = 0},
    {0},
};

static int products(const matrix_form *f)
{
    return f->products ? f->products : 1;
}

/* Returns the number of stored columns of a. */
static int held(const matrix_form *f)
{
    return f->sparse ? f->k / 2 : f->k;
}

static int registers(const matrix_form *f, int operand)
{
    int elements = (operand == 1   ? f->m * held(f)
                    : operand == 2 ? f->k * f->n
                                   : f->m * f->n) *
                   products(f) / LANES;
    int bits = element_bits(f->types[operand]);
    return bits == 64 ? elements : elements * bits / 32;
}

static void add_names(char *text, size_t size, int first, int count)
{
    size_t n = strlen(text);
    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%d", i ? ", " : "{", first + i);
    snprintf(text + n, size - n, "}");
}

/* Writes code that fills the registers of an operand from its matrix. If `stores`, the code
 * fills the matrix from the registers. */
static void add_fragment(char *text, size_t size, const matrix_form *f, int operand, bool stores)
{
    static const char names[] = "dabc";
    int bits = element_bits(f->types[operand]), each = bits == 64 ? 1 : 32 / bits;
    const char *row = operand == 1 ? f->a_row : operand == 2 ? f->b_row : f->c_row;
    const char *b_column = f->b_column ? f->b_column : "g";
    const char *column = operand == 1 ? f->a_column : operand == 2 ? b_column : f->c_column;
    const int width = operand == 1 ? held(f) : operand == 2 ? f->n * products(f) : f->n;
    size_t n = strlen(text);
    snprintf(text + n, size - n,
             "for (int i = 0; i < %d; i++) { int row = %s, column = %s, at = row * %d + column;\n"
             "    %s }\n",
             registers(f, operand) * each, row, column, width,
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

static void add_metadata(char *text, size_t size, const matrix_form *f)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n,
             "const int SELECTOR = %d;\n"
             "unsigned e = 0xffffffffu;\n"
             "if (%s) { e = 0; for (int i = 0; i < 16; i++) { int row = %s, number = %s;\n"
             "    e |= (unsigned)E[row * %d + number] << 2 * i; } }\n",
             f->selector, f->index_lanes, f->index_row, f->index_number, f->indices);
}

void matrix_kernel(const matrix_form *f, char *text, size_t size)
{
    bool wide = element_bits(f->types[0]) == 64;
    snprintf(
        text, size,
        "typedef unsigned long long word;\n"
        "extern \"C\" __global__ void k(const word *A, const word *B, const word *C, word *D,\n"
        "    const unsigned char *E)\n"
        "{\n"
        "int g = threadIdx.x / 4, t = threadIdx.x %% 4;\n"
        "%s a[8] = {0}, b[8] = {0}, c[8] = {0}, d[8];\n",
        wide ? "word" : "unsigned");
    for (int operand = 1; operand < 4; operand++)
        add_fragment(text, size, f, operand, false);
    if (f->sparse)
        add_metadata(text, size, f);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "asm volatile(\"mma%s.sync.aligned.%s ",
             f->sparse ? f->sparse : "", f->opcode);
    int first = 0;
    for (int operand = 0; operand < 4; operand++) {
        add_names(text, size, first, registers(f, operand));
        first += registers(f, operand);
        n = strlen(text);
        if (operand < 3)
            snprintf(text + n, size - n, ", ");
    }
    n = strlen(text);
    if (f->sparse)
        n += (size_t)snprintf(text + n, size - n, ", %%%d, %d", first, f->selector);
    snprintf(text + n, size - n, ";\"");
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
    snprintf(text + n, size - n, "%s);\n", f->sparse ? ", \"r\"(e)" : "");
    add_fragment(text, size, f, 0, true);
    n = strlen(text);
    snprintf(text + n, size - n, "}\n");
}

void matrix_fill(const matrix_form *f, uint64_t *random, matrix_data *d)
{
    for (int i = 0; i < MATRIX_MOST; i++) {
        d->a[i] = element_random(f->types[1], random);
        d->b[i] = element_random(f->types[2], random);
        d->c[i] = element_random(f->types[3], random);
        d->d[i] = UINT64_MAX;
    }
    const bool is_single = strcmp(f->types[1], "tf32") == 0;
    for (int i = 0; i < MATRIX_MOST; i += 2) {
        const int low = is_single ? (int)(random_bits(random) >> 40) % 2 * 2
                                  : (int)(random_bits(random) >> 40) % 3;
        d->indices[i] = (uint8_t)low;
        d->indices[i + 1] =
            (uint8_t)(is_single ? low + 1 : low + 1 + (int)(random_bits(random) >> 40) % (3 - low));
    }
}

/* Returns the column, of all k columns of a, of stored element j of a sparse row. */
static int column_of(const matrix_form *f, const matrix_data *d, int row, int j)
{
    const uint8_t *of_row = &d->indices[row * f->indices];
    switch (element_bits(f->types[1])) {
    case 32: /* one of two elements is stored; the index is 0b0100 or 0b1110 */
        return j * 2 + (of_row[2 * j] == 2);
    case 4: /* two of four pairs of elements are stored */
        return j / 4 * 8 + of_row[j / 2] * 2 + j % 2;
    default:
        return j / 2 * 4 + of_row[j];
    }
}

/* Returns an element of the product. Sets *scale to the sum of the magnitudes of its terms. */
static double evaluate(const matrix_form *f, const matrix_data *d, int row, int column,
                       double *scale)
{
    double v = element_worth(f->types[3], d->c[row * f->n + column]);
    *scale = fabs(v);
    for (int j = 0; j < held(f); j++) {
        const int k = f->sparse ? column_of(f, d, row, j) : j;
        const double of_a = element_worth(f->types[1], d->a[row * held(f) + j]),
                     of_b = element_worth(
                         f->types[2], d->b[k * f->n * products(f) + row / f->m * f->n + column]),
                     one = strstr(f->opcode, "xor") ? of_a != of_b : of_a * of_b;
        v += one;
        *scale += fabs(one);
    }
    if (strstr(f->opcode, "satfinite"))
        return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
    /* Integers wrap around. */
    return f->types[0][0] == 's' ? (double)(int32_t)(uint32_t)(int64_t)v : v;
}

double matrix_distance(const matrix_form *f, const matrix_data *d, int *row, int *column)
{
    double most = 0;
    *row = *column = 0;
    for (int i = 0; i < f->m * products(f); i++)
        for (int j = 0; j < f->n; j++) {
            double scale, wanted = evaluate(f, d, i, j, &scale),
                          found = element_worth(f->types[0], d->d[i * f->n + j]);
            double off = found == wanted         ? 0
                         : f->types[0][0] == 's' ? INFINITY
                                                 : fabs(found - wanted) / scale;
            if (!(off <= most)) {
                most = off;
                *row = i;
                *column = j;
            }
        }
    return most;
}

double matrix_allowed(const matrix_form *f)
{
    return f->types[0][0] == 's'             ? 0
           : strcmp(f->types[0], "f16") == 0 ? 0x1p-10
           : strcmp(f->types[0], "f32") == 0 ? 0x1p-22
                                             : 0x1p-50;
}
