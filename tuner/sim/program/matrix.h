/* Matrix products of a warp, d = a * b + c: the position of each element in the registers of the
 * lanes, and the result.
 *
 * The positions are those of the PTX ISA, "Matrix Fragments for mma". A register of a lane holds
 * neighbours along k (of c and d: along n). The registers of 32 lanes hold one block of the matrix:
 * 8 rows of a, or 8 columns of b. Blocks follow one another along m or n first. The ISA does not
 * define the layouts of wmma, so fragments of wmma follow the same rule here. If these have more
 * registers than the matrix has blocks, the blocks repeat.
 *
 * Products of floats are exact. They are added to the element of c, and the sum is rounded once.
 * The ISA defines neither the order in which a GPU adds nor its precision beyond that of a float.
 * Products of doubles are added one by one along k, and each sum is rounded.
 *
 * If a is sparse, its registers hold half of its elements, as a matrix with half as many columns:
 * two of each four neighbours of a row (tf32: one of two; 4-bit elements: two pairs of eight). Two
 * bits of metadata give the position of an element or pair in its group (ISA, "Sparse matrix
 * storage").
 *
 * m8n8k4 of f16 computes four products, each in two groups of four lanes. Here it is one product of
 * 32 rows and columns, of which only the diagonal blocks count. */
#ifndef AUTOTUNE_SIM_PROGRAM_MATRIX_H
#define AUTOTUNE_SIM_PROGRAM_MATRIX_H

#include "sim/program/program.h"

enum {
    SIM_MATRIX_SIDE = 32,
    SIM_MATRIX_DEPTH = 256,
    SIM_MATRIX_REGISTERS = 8
}; /* highest m and n; highest k; most registers of a lane for an operand */

typedef enum sim_element {
    SIM_ELEMENT_F16,
    SIM_ELEMENT_BF16,
    SIM_ELEMENT_TF32,
    SIM_ELEMENT_F32,
    SIM_ELEMENT_F64,
    SIM_ELEMENT_E4M3,
    SIM_ELEMENT_E5M2,
    SIM_ELEMENT_S8,
    SIM_ELEMENT_U8,
    SIM_ELEMENT_S4,
    SIM_ELEMENT_U4,
    SIM_ELEMENT_B1,
    SIM_ELEMENT_S32,
    SIM_ELEMENT_COUNT
} sim_element;

typedef enum sim_operand { SIM_MATRIX_D, SIM_MATRIX_A, SIM_MATRIX_B, SIM_MATRIX_C } sim_operand;

/* Flags: four products at once; a lane holds a part of a column of a; of a row of b. */
typedef enum sim_quads { SIM_QUADS = 1, SIM_QUADS_A_COLUMN = 2, SIM_QUADS_B_ROW = 4 } sim_quads;

typedef enum sim_sparse { SIM_DENSE, SIM_SPARSE, SIM_SPARSE_ORDERED } sim_sparse;

typedef struct sim_matrix {
    int32_t m, n, k;
    int32_t elements[4];  /* sim_element of each operand */
    int32_t registers[4]; /* registers of a lane for each operand, at most SIM_MATRIX_REGISTERS */
    int32_t exclusive;    /* one-bit elements: count bits that differ (xor); otherwise bits that are
                             both set (and) */
    int32_t sparse;       /* sim_sparse */
    int32_t selector;     /* selects the lanes of a row that hold the metadata */
    int32_t quads;        /* sim_quads; 0 for one product */
} sim_matrix;

/* Returns the matrix of a SIM_MATRIX instruction. It is in sim_program.lists at `list`, before the
 * slots of d, a, b and c. The metadata is in slot e. */
static inline const sim_matrix *sim_matrix_of(const sim_program *p, const sim_instruction *c)
{
    return (const sim_matrix *)(const void *)&p->lists[c->list];
}

static inline const int32_t *sim_matrix_slots(const sim_program *p, const sim_instruction *c,
                                              sim_operand operand)
{
    const sim_matrix *x = sim_matrix_of(p, c);
    const int32_t *slots = (const int32_t *)(const void *)(x + 1);
    for (int i = 0; i < (int)operand; i++)
        slots += x->registers[i];
    return slots;
}

/* Returns the element type of a modifier such as "bf16", or SIM_ELEMENT_COUNT if it is unknown. */
sim_element sim_element_of(const char *modifier);

uint32_t sim_element_bits(sim_element element);

/* Convert between the bits of an element and its value. sim_element_encode() rounds floats. It
 * takes integers modulo 2^32, or clamps them if `saturate` is set. Integers are exact: a double has
 * 53 bits, and no sum of products needs more than 41. */
double sim_element_value(sim_element element, uint64_t bits);
uint64_t sim_element_encode(sim_element element, double v, bool saturate);

/* Return the number of elements in a register; the number of registers that a lane has for an
 * operand, or 0 if the shape does not fill whole registers. */
int32_t sim_matrix_elements(const sim_matrix *x, sim_operand operand);
int32_t sim_matrix_least(const sim_matrix *x, sim_operand operand);

/* The position of the first element of lane 0 in a register. `across` is the row in a, c and d, and
 * the column in b. `along` is the other coordinate. The lanes with the same number modulo 4 cover 8
 * rows (of b: columns). */
typedef struct sim_fragment {
    int32_t across, along;
} sim_fragment;

sim_fragment sim_matrix_fragment(const sim_matrix *x, sim_operand operand, int32_t number);

/* Returns the number of selectors of a sparse product, or 0 if the shape has no sparse form. */
int32_t sim_matrix_selectors(const sim_matrix *x);

uint32_t sim_matrix_metadata_lanes(const sim_matrix *x);

/* Returns the column of the `held`-th of the elements that registers hold of a row. */
int sim_matrix_column(const sim_matrix *x, const uint32_t *metadata, int row, int held);

/* Checks the metadata: tf32 allows only 0b0100 and 0b1110, and ordered metadata increases within a
 * group. Returns false, and a lane of invalid metadata in *lane, if the check fails. */
bool sim_matrix_metadata_is_valid(const sim_program *p, const sim_instruction *c,
                                  const uint8_t *registers, int *lane);

/* Computes the product and writes the registers of d. */
void sim_matrix_multiply(const sim_program *p, const sim_instruction *c, uint8_t *registers);

/* Computes the bits of d in the registers `undefined`, from the bits of a, b and c there. An
 * element is undefined if it is computed from any undefined element. The metadata must be
 * defined. */
void sim_matrix_mark_undefined(const sim_program *p, const sim_instruction *c, uint8_t *undefined);

#endif
