#include "sim/program/matrix.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "sim/program/operations.h"

static const struct {
    const char *modifier;
    uint32_t bits;
} elements[SIM_ELEMENT_COUNT] = {
    [SIM_ELEMENT_F16] = {"f16", 16},   [SIM_ELEMENT_BF16] = {"bf16", 16},
    [SIM_ELEMENT_TF32] = {"tf32", 32}, [SIM_ELEMENT_F32] = {"f32", 32},
    [SIM_ELEMENT_F64] = {"f64", 64},   [SIM_ELEMENT_E4M3] = {"e4m3", 8},
    [SIM_ELEMENT_E5M2] = {"e5m2", 8},  [SIM_ELEMENT_S8] = {"s8", 8},
    [SIM_ELEMENT_U8] = {"u8", 8},      [SIM_ELEMENT_S4] = {"s4", 4},
    [SIM_ELEMENT_U4] = {"u4", 4},      [SIM_ELEMENT_B1] = {"b1", 1},
    [SIM_ELEMENT_S32] = {"s32", 32}};

sim_element sim_element_of(const char *modifier)
{
    int i = 0;
    while (i < SIM_ELEMENT_COUNT && strcmp(elements[i].modifier, modifier) != 0)
        i++;
    return (sim_element)i;
}

uint32_t sim_element_bits(sim_element element)
{
    return elements[element].bits;
}

static int32_t rows_of(const sim_matrix *x, sim_operand operand)
{
    return operand == SIM_MATRIX_B ? x->k : x->m;
}

static int32_t held_columns(const sim_matrix *x, sim_operand operand)
{
    return operand != SIM_MATRIX_A ? x->n : x->sparse ? x->k / 2 : x->k;
}

int32_t sim_matrix_elements(const sim_matrix *x, sim_operand operand)
{
    uint32_t bits = elements[x->elements[operand]].bits;
    return bits == 64 ? 1 : (int32_t)(32 / bits);
}

int32_t sim_matrix_least(const sim_matrix *x, sim_operand operand)
{
    const bool is_sum = operand == SIM_MATRIX_C || operand == SIM_MATRIX_D;
    if (x->quads) /* 4 or 8 elements per lane */
        return (is_sum ? 8 : 4) / sim_matrix_elements(x, operand);
    int32_t all = rows_of(x, operand) * held_columns(x, operand),
            held = SIM_LANES * sim_matrix_elements(x, operand);
    return all % held ? 0 : all / held;
}

/* Returns the number of neighbours that a lane holds in a block: two of c and d, in 1 or 2
 * registers. */
static int32_t along_of_lane(const sim_matrix *x, sim_operand operand)
{
    return operand == SIM_MATRIX_A || operand == SIM_MATRIX_B ? sim_matrix_elements(x, operand) : 2;
}

sim_fragment sim_matrix_fragment(const sim_matrix *x, sim_operand operand, int32_t number)
{
    if (x->quads)
        return (sim_fragment){0, 0};
    int32_t of_lane = along_of_lane(x, operand), of_register = sim_matrix_elements(x, operand);
    int32_t together = of_lane / of_register; /* registers of a lane per block */
    int32_t across = operand == SIM_MATRIX_B ? x->n : x->m;
    number %= sim_matrix_least(x, operand);
    int32_t block = number / together, blocks = across / 8;
    if (operand == SIM_MATRIX_B) /* the blocks of b follow one another along k first */
        return (sim_fragment){block / (x->k / (4 * of_lane)) * 8,
                              block % (x->k / (4 * of_lane)) * 4 * of_lane};
    return (sim_fragment){block % blocks * 8,
                          block / blocks * 4 * of_lane + number % together * of_register};
}

/* Computes row and column of an element of a lane, in a register whose position is `f`. */
static inline void place_of(sim_fragment f, int32_t of_lane, sim_operand operand, int element,
                            int lane, int32_t *row, int32_t *column)
{
    int32_t across = f.across + lane / 4, along = f.along + lane % 4 * of_lane + element;
    *row = operand == SIM_MATRIX_B ? along : across;
    *column = operand == SIM_MATRIX_B ? across : along;
}

/* Computes row and column of element `i` of a lane: PTX ISA, "Matrix Fragments for mma.m8n8k4 with
 * .f16 floating point type". */
static void quad_place(const sim_matrix *x, sim_operand operand, int32_t i, int lane, int32_t *row,
                       int32_t *column)
{
    const int32_t first = lane / 4 % 4 * 8 + lane / 16 * 4, t = lane % 4,
                  product = lane / 4 % 4 * 8;
    const bool turned = operand == SIM_MATRIX_A   ? x->quads & SIM_QUADS_A_COLUMN
                        : operand == SIM_MATRIX_B ? x->quads & SIM_QUADS_B_ROW
                                                  : false;
    if (operand == SIM_MATRIX_A || operand == SIM_MATRIX_B) {
        const int32_t across = first + (turned ? i : t), along = turned ? t : i;
        *row = operand == SIM_MATRIX_A ? across : along;
        *column = operand == SIM_MATRIX_A ? along : across;
    } else if (elements[x->elements[operand]].bits == 16) {
        *row = first + t;
        *column = product + i;
    } else {
        *row = first + (t & 1) + (i & 2);
        *column = product + (i & 4) + (t & 2) + (i & 1);
    }
}

/* Computes row and column of element `e` of register `i`, whose position is `f`, in any shape. */
static inline void find_place(const sim_matrix *x, sim_operand operand, sim_fragment f, int32_t i,
                              int e, int lane, int32_t *row, int32_t *column)
{
    if (x->quads)
        quad_place(x, operand, i * sim_matrix_elements(x, operand) + e, lane, row, column);
    else
        place_of(f, along_of_lane(x, operand), operand, e, lane, row, column);
}

static uint64_t bits_in(const uint8_t *registers, int32_t slot, uint32_t bits, int element,
                        int lane)
{
    if (bits == 64)
        return ((const uint64_t *)(const void *)(registers + slot))[lane];
    uint32_t word = ((const uint32_t *)(const void *)(registers + slot))[lane];
    return bits == 32 ? word : word >> (bits * (uint32_t)element) & ((1u << bits) - 1);
}

double sim_element_value(sim_element element, uint64_t bits)
{
    switch (element) {
    case SIM_ELEMENT_F16:
        return half_to_float((uint16_t)bits);
    case SIM_ELEMENT_BF16:
        return bfloat_to_float((uint16_t)bits);
    case SIM_ELEMENT_TF32: /* the bits below the fraction are ignored */
        return float_of_bits((uint32_t)bits & ~UINT32_C(0x1fff));
    case SIM_ELEMENT_F32:
        return float_of_bits((uint32_t)bits);
    case SIM_ELEMENT_F64:
        return double_of_bits(bits);
    case SIM_ELEMENT_S8:
        return (int8_t)bits;
    case SIM_ELEMENT_S4:
        return (int8_t)(bits << 4) / 16;
    case SIM_ELEMENT_U8:
    case SIM_ELEMENT_U4:
    case SIM_ELEMENT_B1:
        return (double)bits;
    case SIM_ELEMENT_S32:
        return (int32_t)bits;
    default:
        return small_float_value(
            small_float_of(element == SIM_ELEMENT_E4M3 ? PTX_E4M3X2 : PTX_E5M2X2), (uint32_t)bits);
    }
}

uint64_t sim_element_encode(sim_element element, double v, bool saturate)
{
    switch (element) {
    case SIM_ELEMENT_F16:
        return small_float_encode(small_float_of(PTX_F16), v, SIM_ROUND_NEAREST, false);
    case SIM_ELEMENT_F64:
        return bits_of_double(v == v ? v : double_of_bits(SIM_NAN_DOUBLE));
    case SIM_ELEMENT_S32:
        if (saturate)
            v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
        return (uint32_t)(int64_t)v;
    default:
        return bits_of_float(sim_float((float)v));
    }
}

/* The position of a 2-bit index in the metadata: PTX ISA, "Matrix fragments for multiply-accumulate
 * operation with sparse matrix A". For elements of 16 and 32 bits, rows g and g + 8 share a word of
 * metadata. For smaller elements, the words of these rows are in neighbouring lanes. */
typedef struct index_place {
    int lane;
    uint32_t shift;
} index_place;

static bool rows_share_words(const sim_matrix *x)
{
    return elements[x->elements[SIM_MATRIX_A]].bits >= 16;
}

static index_place place_of_index(const sim_matrix *x, int row, int number)
{
    const int lane = row % 8 * 4, upper = row / 8;
    if (rows_share_words(x))
        return (index_place){lane + x->selector * (sim_matrix_least(x, SIM_MATRIX_A) / 2) +
                                 number / 8,
                             (uint32_t)(upper * 16 + number % 8 * 2)};
    return (index_place){lane + x->selector * 2 + number / 16 * 2 + upper,
                         (uint32_t)(number % 16 * 2)};
}

static int index_at(const sim_matrix *x, const uint32_t *metadata, int row, int number)
{
    const index_place at = place_of_index(x, row, number);
    return (int)(metadata[at.lane] >> at.shift & 3);
}

/* Returns the number of indices of a row: two for each stored tf32 element, one for two stored
 * 4-bit elements, one for each other stored element. */
static int indices_of_row(const sim_matrix *x)
{
    const uint32_t bits = elements[x->elements[SIM_MATRIX_A]].bits;
    return bits == 32 ? x->k : bits == 4 ? x->k / 4 : x->k / 2;
}

static const uint32_t *metadata_of(const sim_instruction *c, const uint8_t *registers)
{
    return (const uint32_t *)(const void *)(registers + c->e);
}

int sim_matrix_column(const sim_matrix *x, const uint32_t *metadata, int row, int held)
{
    switch (elements[x->elements[SIM_MATRIX_A]].bits) {
    case 32:
        return held * 2 + index_at(x, metadata, row, 2 * held) / 2;
    case 4:
        return held / 4 * 8 + index_at(x, metadata, row, held / 2) * 2 + held % 2;
    default:
        return held / 2 * 4 + index_at(x, metadata, row, held);
    }
}

int32_t sim_matrix_selectors(const sim_matrix *x)
{
    const int32_t held = sim_matrix_least(x, SIM_MATRIX_A);
    const bool exists = x->m == 16 && (held == 2 || held == 4);
    return !exists ? 0 : (held == 2 ? 2 : 1) * (rows_share_words(x) ? 2 : 1);
}

uint32_t sim_matrix_metadata_lanes(const sim_matrix *x)
{
    uint32_t lanes = 0;
    for (int row = 0; x->sparse && row < x->m; row++)
        for (int i = 0; i < indices_of_row(x); i++)
            lanes |= 1u << place_of_index(x, row, i).lane;
    return lanes;
}

bool sim_matrix_metadata_is_valid(const sim_program *p, const sim_instruction *c,
                                  const uint8_t *registers, int *lane)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    const uint32_t *metadata = metadata_of(c, registers);
    const bool is_single = elements[x->elements[SIM_MATRIX_A]].bits == 32;
    for (int row = 0; row < x->m; row++)
        for (int i = 0; i < indices_of_row(x); i += 2) {
            const int low = index_at(x, metadata, row, i), high = index_at(x, metadata, row, i + 1);
            if (is_single ? low % 2 == 0 && high == low + 1
                          : x->sparse != SIM_SPARSE_ORDERED || low < high)
                continue;
            *lane = place_of_index(x, row, i).lane;
            return false;
        }
    return true;
}

typedef double lines[SIM_MATRIX_SIDE][SIM_MATRIX_DEPTH];

static void gather(const sim_program *p, const sim_instruction *c, sim_operand operand,
                   const uint8_t *registers, lines to)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    const int32_t *slots = sim_matrix_slots(p, c, operand);
    const uint32_t bits = elements[x->elements[operand]].bits;
    for (int32_t i = 0; i < x->registers[operand]; i++) {
        const sim_fragment f = sim_matrix_fragment(x, operand, i);
        for (int e = 0; e < sim_matrix_elements(x, operand); e++)
            SIM_EACH_LANE(l)
            {
                int32_t row, column;
                find_place(x, operand, f, i, e, l, &row, &column);
                double v = sim_element_value((sim_element)x->elements[operand],
                                             bits_in(registers, slots[i], bits, e, l));
                /* Rows of a and columns of b both lie along k. */
                if (operand == SIM_MATRIX_B)
                    to[column][row] = v;
                else
                    to[row][column] = v;
            }
    }
}

static void scatter(const sim_program *p, const sim_instruction *c, uint64_t of[][SIM_MATRIX_SIDE],
                    uint8_t *registers)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    const int32_t *slots = sim_matrix_slots(p, c, SIM_MATRIX_D);
    uint32_t bits = elements[x->elements[SIM_MATRIX_D]].bits;
    for (int32_t i = 0; i < x->registers[SIM_MATRIX_D]; i++) {
        const sim_fragment f = sim_matrix_fragment(x, SIM_MATRIX_D, i);
        SIM_EACH_LANE(l)
        {
            uint64_t word = 0;
            for (int e = 0; e < sim_matrix_elements(x, SIM_MATRIX_D); e++) {
                int32_t row, column;
                find_place(x, SIM_MATRIX_D, f, i, e, l, &row, &column);
                word |= of[row][column] << (bits * (uint32_t)e);
            }
            if (bits == 64)
                ((uint64_t *)(void *)(registers + slots[i]))[l] = word;
            else
                ((uint32_t *)(void *)(registers + slots[i]))[l] = (uint32_t)word;
        }
    }
}

void sim_matrix_multiply(const sim_program *p, const sim_instruction *c, uint8_t *registers)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    const bool doubles = x->elements[SIM_MATRIX_D] == SIM_ELEMENT_F64;
    const int held = held_columns(x, SIM_MATRIX_A);
    lines a, b, sum;
    uint64_t of[SIM_MATRIX_SIDE][SIM_MATRIX_SIDE];
    gather(p, c, SIM_MATRIX_A, registers, a);
    gather(p, c, SIM_MATRIX_B, registers, b);
    gather(p, c, SIM_MATRIX_C, registers, sum);
    for (int i = 0; i < x->m; i++) {
        int at[SIM_MATRIX_DEPTH];
        for (int k = 0; k < held; k++)
            at[k] = x->sparse ? sim_matrix_column(x, metadata_of(c, registers), i, k) : k;
        for (int j = 0; j < x->n; j++) {
            if (x->quads && i / 8 != j / 8)
                continue;
            double v = sum[i][j];
            for (int k = 0; doubles && k < held; k++)
                v = fma(a[i][k], b[j][k], v);
            for (int k = 0; !doubles && k < held; k++)
                v += x->exclusive ? a[i][k] != b[j][k] : a[i][k] * b[j][at[k]];
            of[i][j] = sim_element_encode((sim_element)x->elements[SIM_MATRIX_D], v, c->saturate);
        }
    }
    scatter(p, c, of, registers);
}

void sim_matrix_mark_undefined(const sim_program *p, const sim_instruction *c, uint8_t *undefined)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    bool of_row[SIM_MATRIX_SIDE] = {false}, of_column[SIM_MATRIX_SIDE] = {false};
    uint64_t of[SIM_MATRIX_SIDE][SIM_MATRIX_SIDE] = {{0}};
    for (int operand = SIM_MATRIX_A; operand <= SIM_MATRIX_C; operand++) {
        const int32_t *slots = sim_matrix_slots(p, c, (sim_operand)operand);
        const uint32_t bits = elements[x->elements[operand]].bits;
        for (int32_t i = 0; i < x->registers[operand]; i++) {
            const sim_fragment f = sim_matrix_fragment(x, (sim_operand)operand, i);
            for (int e = 0; e < sim_matrix_elements(x, (sim_operand)operand); e++)
                SIM_EACH_LANE(l)
                {
                    int32_t row, column;
                    if (!bits_in(undefined, slots[i], bits, e, l))
                        continue;
                    find_place(x, (sim_operand)operand, f, i, e, l, &row, &column);
                    of_row[row] = of_row[row] || operand == SIM_MATRIX_A;
                    of_column[column] = of_column[column] || operand == SIM_MATRIX_B;
                    if (operand == SIM_MATRIX_C)
                        of[row][column] = 1;
                }
        }
    }
    uint32_t bits = elements[x->elements[SIM_MATRIX_D]].bits;
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++)
            of[i][j] = of[i][j] || of_row[i] || of_column[j] ? UINT64_MAX >> (64 - bits) : 0;
    scatter(p, c, of, undefined);
}
