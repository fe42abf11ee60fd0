#include "sim/program/warpgroup.h"

#include <string.h>

enum {
    CHUNK = SIM_WARPGROUP_CHUNK_BYTES,
    MOST_BYTES = 2 * SIM_WARPGROUP_BYTES, /* bytes of a column of b */
    LINES_OF_ATOM = 8
};

/* Returns the bytes of a row of a or of a column of b. */
static int row_bytes(const sim_warpgroup_product *x, sim_operand operand)
{
    return operand == SIM_MATRIX_B && x->part.sparse ? MOST_BYTES : SIM_WARPGROUP_BYTES;
}

/* Returns the number of stored elements of a row of a: half of the row if a is sparse. */
static int held_of(const sim_warpgroup_product *x)
{
    return x->part.sparse ? x->part.k / 2 : x->part.k;
}

/* A decoded descriptor (PTX ISA, "Matrix descriptor"), which holds addresses of 18 bits without
 * their last four. */
typedef struct layout {
    uint32_t start, leading, stride; /* in bytes */
    uint32_t base;                   /* start of the pattern of the swizzle, in rows of 128 bytes */
    uint32_t swizzle;                /* number of address bits that the swizzle exchanges */
} layout;

static uint32_t field(uint64_t descriptor, int first)
{
    return (uint32_t)(descriptor >> first & 0x3fff) << 4;
}

static layout layout_of(uint64_t descriptor)
{
    static const uint8_t bits[] = {0, 3, 2, 1};
    return (layout){.start = field(descriptor, 0),
                    .leading = field(descriptor, 16),
                    .stride = field(descriptor, 32),
                    .base = (uint32_t)(descriptor >> 49 & 7),
                    .swizzle = bits[descriptor >> 62]};
}

/* Returns the address of a chunk: PTX ISA, "Strides" and "Canonical layouts". Without a swizzle,
 * lines of a group of eight are 16 bytes apart; with one, a row of the swizzle. */
static uint32_t address_of(const layout *x, bool turned, uint32_t line, uint32_t chunk)
{
    const uint32_t within = (uint32_t)CHUNK << x->swizzle, reach = 1u << x->swizzle;
    const uint32_t group = line / LINES_OF_ATOM;
    uint32_t at = x->start + line % LINES_OF_ATOM * within;
    if (x->swizzle == 0)
        at += turned ? chunk * x->stride + group * x->leading
                     : chunk * x->leading + group * x->stride;
    else
        at += group * x->stride +
              (turned ? chunk / reach * x->leading + chunk % reach * CHUNK : chunk * CHUNK);
    at &= 0x3ffff;
    return at ^ (((at >> 7) - x->base) & (reach - 1)) << 4;
}

bool sim_warpgroup_layout_is_known(const sim_warpgroup_product *x, uint64_t b_descriptor)
{
    const layout in = layout_of(b_descriptor);
    return x->turned[1] || in.swizzle == 0 || (CHUNK << in.swizzle) >= row_bytes(x, SIM_MATRIX_B);
}

int sim_warpgroup_chunks(const sim_warpgroup_product *x, sim_operand operand, uint64_t descriptor,
                         uint32_t warp, uint32_t chunks[SIM_WARPGROUP_CHUNKS])
{
    const layout in = layout_of(descriptor);
    const bool is_a = operand == SIM_MATRIX_A, turned = x->turned[is_a ? 0 : 1];
    const uint32_t across = (uint32_t)(is_a ? x->part.m : x->part.n), first = is_a ? warp : 0;
    const uint32_t along = (uint32_t)(is_a ? held_of(x) : x->part.k),
                   lines = turned ? along : across,
                   of_line = turned ? across / 8 : (uint32_t)row_bytes(x, operand) / CHUNK;
    int n = 0;
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t chunk = 0; chunk < of_line; chunk++)
            chunks[n++] = turned ? address_of(&in, true, line, first * of_line + chunk)
                                 : address_of(&in, false, first * lines + line, chunk);
    return n;
}

/* The bytes of an operand: rows of a, or columns of b. */
typedef uint8_t image[SIM_WARPGROUP_COLUMNS][MOST_BYTES];

static void take_from_shared(const sim_warpgroup_product *x, sim_operand operand,
                             const uint8_t *shared, const uint32_t *chunks, image to)
{
    const bool is_a = operand == SIM_MATRIX_A;
    const int across = is_a ? x->part.m : x->part.n, of_line = row_bytes(x, operand) / CHUNK,
              along = is_a ? held_of(x) : x->part.k;
    if (!x->turned[is_a ? 0 : 1]) {
        for (int i = 0; i < across * of_line; i++)
            memcpy(&to[i / of_line][i % of_line * CHUNK], shared + chunks[i], CHUNK);
        return;
    }
    for (int k = 0; k < along; k++)
        for (int i = 0; i < across; i++)
            memcpy(&to[i][k * 2], shared + chunks[k * (across / 8) + i / 8] + i % 8 * 2, 2);
}

static inline int32_t row_of(sim_fragment f, int lane)
{
    return f.across + lane / 4;
}

static void take_from_registers(const sim_program *p, const sim_instruction *c,
                                const uint8_t *registers, image to)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    const int32_t *slots = sim_warpgroup_slots(p, c, SIM_MATRIX_A);
    const int each = sim_matrix_elements(&x->part, SIM_MATRIX_A);
    for (int i = 0; i < x->part.registers[SIM_MATRIX_A]; i++) {
        const sim_fragment f = sim_matrix_fragment(&x->part, SIM_MATRIX_A, i);
        const uint32_t *lanes = (const uint32_t *)(const void *)(registers + slots[i]);
        for (int l = 0; l < SIM_LANES; l++)
            memcpy(&to[row_of(f, l)][(f.along / each + l % 4) * 4], &lanes[l], 4);
    }
}

static void take(const sim_program *p, const sim_instruction *c, const uint8_t *shared,
                 const uint32_t *a_chunks, const uint32_t *b_chunks, const uint8_t *registers,
                 image a, image b)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    if (x->part.registers[SIM_MATRIX_A] > 0)
        take_from_registers(p, c, registers, a);
    else
        take_from_shared(x, SIM_MATRIX_A, shared, a_chunks, a);
    take_from_shared(x, SIM_MATRIX_B, shared, b_chunks, b);
}

static double element_at(sim_element element, const uint8_t *row, int k)
{
    const uint32_t bytes = sim_element_bits(element) / 8;
    uint32_t bits = 0;
    memcpy(&bits, row + (uint32_t)k * bytes, bytes);
    return sim_element_value(element, bits);
}

typedef double sums[SIM_WARPGROUP_ROWS][SIM_WARPGROUP_COLUMNS];

static void add_bits(const sim_warpgroup_product *x, image a, image b, sums to)
{
    for (int i = 0; i < x->part.m; i++)
        for (int j = 0; j < x->part.n; j++)
            for (int at = 0; at < SIM_WARPGROUP_BYTES; at++)
                to[i][j] += __builtin_popcount(a[i][at] & b[j][at]);
}

static void add_products(const sim_warpgroup_product *x, image a, image b, sums to)
{
    const sim_element of_a = (sim_element)x->part.elements[SIM_MATRIX_A],
                      of_b = (sim_element)x->part.elements[SIM_MATRIX_B];
    const double sign = x->negated ? -1 : 1;
    for (int k = 0; k < x->part.k; k++) {
        double line[SIM_WARPGROUP_COLUMNS];
        for (int j = 0; j < x->part.n; j++)
            line[j] = element_at(of_b, b[j], k);
        for (int i = 0; i < x->part.m; i++) {
            const double v = sign * element_at(of_a, a[i], k);
            for (int j = 0; j < x->part.n; j++)
                to[i][j] += v * line[j];
        }
    }
}

/* Adds products of sparse rows: metadata gives the element of b for each element of a. */
static void add_sparse_products(const sim_warpgroup_product *x, const uint32_t *metadata, image a,
                                image b, sums to)
{
    const sim_element of_a = (sim_element)x->part.elements[SIM_MATRIX_A],
                      of_b = (sim_element)x->part.elements[SIM_MATRIX_B];
    const double sign = x->negated ? -1 : 1;
    for (int i = 0; i < x->part.m; i++)
        for (int held = 0; held < held_of(x); held++) {
            const double v = sign * element_at(of_a, a[i], held);
            const int k = sim_matrix_column(&x->part, metadata, i, held);
            for (int j = 0; j < x->part.n; j++)
                to[i][j] += v * element_at(of_b, b[j], k);
        }
}

/* Row, column and shift of an element of d in a register of a lane. */
typedef struct position {
    int32_t row, column;
    uint32_t shift;
} position;

static inline position position_of(sim_fragment f, uint32_t bits, int lane, int element)
{
    return (position){row_of(f, lane), f.along + lane % 4 * 2 + element, bits * (uint32_t)element};
}

static uint32_t *words_of(uint8_t *registers, int32_t slot)
{
    return (uint32_t *)(void *)(registers + slot);
}

void sim_warpgroup_multiply(const sim_program *p, const sim_instruction *c, const uint8_t *shared,
                            const uint32_t *a_chunks, const uint32_t *b_chunks, bool keeps,
                            uint8_t *registers)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    const sim_element of_d = (sim_element)x->part.elements[SIM_MATRIX_D];
    const int32_t *slots = sim_warpgroup_slots(p, c, SIM_MATRIX_D);
    const int each = sim_matrix_elements(&x->part, SIM_MATRIX_D);
    const uint32_t bits = sim_element_bits(of_d), mask = UINT32_MAX >> (32 - bits);
    image a, b;
    sums sum;
    memset(sum, 0, sizeof sum);
    take(p, c, shared, a_chunks, b_chunks, registers, a, b);
    for (int i = 0; keeps && i < x->part.registers[SIM_MATRIX_D]; i++) {
        const sim_fragment f = sim_matrix_fragment(&x->part, SIM_MATRIX_D, i);
        for (int l = 0; l < SIM_LANES; l++)
            for (int e = 0; e < each; e++) {
                const position s = position_of(f, bits, l, e);
                sum[s.row][s.column] =
                    sim_element_value(of_d, words_of(registers, slots[i])[l] >> s.shift & mask);
            }
    }
    if (x->part.elements[SIM_MATRIX_A] == SIM_ELEMENT_B1)
        add_bits(x, a, b, sum);
    else if (x->part.sparse)
        add_sparse_products(x, words_of(registers, c->e), a, b, sum);
    else
        add_products(x, a, b, sum);
    for (int i = 0; i < x->part.registers[SIM_MATRIX_D]; i++) {
        const sim_fragment f = sim_matrix_fragment(&x->part, SIM_MATRIX_D, i);
        for (int l = 0; l < SIM_LANES; l++) {
            uint32_t word = 0;
            for (int e = 0; e < each; e++) {
                const position s = position_of(f, bits, l, e);
                word |= (uint32_t)sim_element_encode(of_d, sum[s.row][s.column], c->saturate)
                        << s.shift;
            }
            words_of(registers, slots[i])[l] = word;
        }
    }
}

static bool has_any(const uint8_t *row, int bytes)
{
    uint8_t any = 0;
    for (int i = 0; i < bytes; i++)
        any |= row[i];
    return any != 0;
}

bool sim_warpgroup_mark_undefined(const sim_program *p, const sim_instruction *c,
                                  const uint8_t *written, const uint32_t *a_chunks,
                                  const uint32_t *b_chunks, bool keeps, uint8_t *undefined)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    const int32_t *slots = sim_warpgroup_slots(p, c, SIM_MATRIX_D);
    const int each = sim_matrix_elements(&x->part, SIM_MATRIX_D);
    const uint32_t bits = sim_element_bits((sim_element)x->part.elements[SIM_MATRIX_D]),
                   mask = UINT32_MAX >> (32 - bits);
    const bool a_is_shared = x->part.registers[SIM_MATRIX_A] == 0;
    const int of_b = row_bytes(x, SIM_MATRIX_B);
    bool of_row[SIM_WARPGROUP_ROWS], of_column[SIM_WARPGROUP_COLUMNS], any = false;
    image a, b;
    take(p, c, written, a_chunks, b_chunks, undefined, a, b);
    for (int i = 0; i < x->part.m; i++) {
        for (int k = 0; a_is_shared && k < SIM_WARPGROUP_BYTES; k++)
            a[i][k] = !a[i][k];
        of_row[i] = has_any(a[i], SIM_WARPGROUP_BYTES);
    }
    for (int j = 0; j < x->part.n; j++) {
        for (int k = 0; k < of_b; k++)
            b[j][k] = !b[j][k];
        of_column[j] = has_any(b[j], of_b);
    }
    for (int i = 0; i < x->part.registers[SIM_MATRIX_D]; i++) {
        const sim_fragment f = sim_matrix_fragment(&x->part, SIM_MATRIX_D, i);
        for (int l = 0; l < SIM_LANES; l++) {
            uint32_t *word = &words_of(undefined, slots[i])[l], lost = 0;
            for (int e = 0; e < each; e++) {
                const position s = position_of(f, bits, l, e);
                if (of_row[s.row] || of_column[s.column] || (keeps && (*word >> s.shift & mask)))
                    lost |= mask << s.shift;
            }
            *word = lost;
            any = any || lost;
        }
    }
    return any;
}
