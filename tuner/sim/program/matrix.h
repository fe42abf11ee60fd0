/* Products of matrices by a warp, d = a * b + c: where the elements lie in the registers of its
 * lanes, and what comes out.
 *
 * Places are those of the PTX ISA, "Matrix Fragments for mma", whose shapes all follow one rule: a
 * register of a lane has elements that are neighbours along k (of c and d: along n), and the
 * registers of 32 lanes are one block of the matrix, of 8 rows of a or columns of b. Blocks follow
 * one another along m or n first. The layouts that wmma leaves open have the same rule; if its
 * fragments have more registers than the matrix has blocks, they begin again.
 *
 * Products of floats are exact, and are added with the element of c before they are rounded once;
 * the ISA leaves open in which order, and with which precision above a float's, a GPU adds. Those
 * of doubles are added one by one along k, each rounded.
 *
 * Where a is sparse, its registers hold half of its elements: two of each four neighbours of a row
 * (one of two of tf32, two pairs of eight of 4 bits), as a matrix of half as many columns. Two bits
 * of metadata tell where in its group an element, or a pair, belongs (ISA, "Sparse matrix
 * storage").
 *
 * m8n8k4 of f16 is four products at once, each of two groups of four lanes: here one of 32 rows and
 * columns of which the blocks on the diagonal alone count. */
#ifndef AUTOTUNE_SIM_PROGRAM_MATRIX_H
#define AUTOTUNE_SIM_PROGRAM_MATRIX_H

#include "sim/program/program.h"

enum { SIM_MATRIX_SIDE = 32, SIM_MATRIX_DEPTH = 256, SIM_MATRIX_REGISTERS = 8 }; /* m, n; k */

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

/* Flags: lanes have elements of a column of a, of a row of b. */
typedef enum sim_quads { SIM_QUADS = 1, SIM_QUADS_A_COLUMN = 2, SIM_QUADS_B_ROW = 4 } sim_quads;

typedef enum sim_sparse { SIM_DENSE, SIM_SPARSE, SIM_SPARSE_ORDERED } sim_sparse;

typedef struct sim_matrix {
    int32_t m, n, k;
    int32_t elements[4];  /* sim_element of each operand */
    int32_t registers[4]; /* of a lane, of each; none has more than SIM_MATRIX_REGISTERS */
    int32_t exclusive;    /* of bits: those that differ are counted, not those that are both set */
    int32_t sparse;       /* sim_sparse */
    int32_t selector;     /* which of the lanes of a row have the metadata */
    int32_t quads;        /* sim_quads of four products at once; 0: it is one */
} sim_matrix;

/* An instruction of SIM_MATRIX has it in sim_program.lists at `list`, and its slots after it: those
 * of d, a, b and c. Metadata is in the slot e. */
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

/* The element type of a modifier, "bf16"; SIM_ELEMENT_COUNT: it is none. */
sim_element sim_element_of(const char *modifier);
uint32_t sim_element_bits(sim_element element);
/* The first tells what the bits of an element stand for, the second gives the bits of a result,
 * rounded or, of integers, modulo 2^32 unless it is to saturate. Integers are exact: a double has
 * 53 bits, and no sum of a product has more than 41. */
double sim_element_value(sim_element element, uint64_t bits);
uint64_t sim_element_encode(sim_element element, double v, bool saturate);
/* Elements of a register; and registers of a lane that hold a whole operand, 0 where such a shape
 * does not fill them. */
int32_t sim_matrix_elements(const sim_matrix *x, sim_operand operand);
int32_t sim_matrix_least(const sim_matrix *x, sim_operand operand);

/* An operand's two directions: across, of which lanes of one number modulo 4 have 8, and along. Row
 * and column of a; column and row of b; row and column of c and d. The numbers of a register are
 * its first across and along of lane 0. */
typedef struct sim_fragment {
    int32_t across, along;
} sim_fragment;
sim_fragment sim_matrix_fragment(const sim_matrix *x, sim_operand operand, int32_t number);

/* How many selectors there are for such a sparse operand; 0: there is none such. */
int32_t sim_matrix_selectors(const sim_matrix *x);
uint32_t sim_matrix_metadata_lanes(const sim_matrix *x); /* those that have some */
/* The column of a row's element that is the `held`-th in its registers. */
int sim_matrix_column(const sim_matrix *x, const uint32_t *metadata, int row, int held);
/* Does the metadata mean something? Else *lane is one whose does not: of tf32 each element has
 * 0b0100 or 0b1110, and what is ordered grows within a group. */
bool sim_matrix_has_meaning(const sim_program *p, const sim_instruction *c,
                            const uint8_t *registers, int *lane);

/* Fills the registers of d. */
void sim_matrix_multiply(const sim_program *p, const sim_instruction *c, uint8_t *registers);
/* The same of bits that have no value: an element of d has one where all that it is computed of
 * have. All metadata must have one. */
void sim_matrix_lose(const sim_program *p, const sim_instruction *c, uint8_t *lacks);

#endif
