/* Matrix products of four warps, d = a * b + d (wgmma): the position of the elements in shared
 * memory and registers, and the result. PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Multiply-Accumulate Instructions".
 *
 * Each warp computes 16 rows of d from its 16 rows of a and all of b. Fragments and sparse metadata
 * are those of mma (sim/program/matrix.h). A row of a and a column of b have 32 bytes along k; a
 * column of b has 64 bytes if a is sparse.
 *
 * A matrix in shared memory consists of chunks of 16 bytes, along k, or across if the matrix is
 * transposed ("MN-major", only for 16-bit elements). A descriptor gives their addresses, which are
 * swizzled as in tensor copies. */
#ifndef AUTOTUNE_SIM_PROGRAM_WARPGROUP_H
#define AUTOTUNE_SIM_PROGRAM_WARPGROUP_H

#include "sim/program/matrix.h"

enum {
    SIM_WARPGROUP_WARPS = 4,
    SIM_WARPGROUP_ROWS = 16,     /* rows of d per warp */
    SIM_WARPGROUP_COLUMNS = 256, /* highest n */
    SIM_WARPGROUP_BYTES = 32,    /* bytes of a row of a */
    SIM_WARPGROUP_CHUNK_BYTES = 16,
    SIM_WARPGROUP_CHUNKS = 4 * SIM_WARPGROUP_COLUMNS /* highest number of chunks of an operand */
};

typedef struct sim_warpgroup_product {
    sim_matrix part;   /* the product of one warp: m is its rows. registers[] is 0 for a in shared
                          memory, and for c, which is d */
    int32_t negated;   /* adds -a * b instead of a * b */
    int32_t turned[2]; /* a and b are transposed (MN-major) */
} sim_warpgroup_product;

/* Returns the product of an instruction. It is in sim_program.lists at `list`, before the slots of
 * d and a. */
static inline const sim_warpgroup_product *sim_warpgroup_product_of(const sim_program *p,
                                                                    const sim_instruction *c)
{
    return (const sim_warpgroup_product *)(const void *)&p->lists[c->list];
}

static inline const int32_t *sim_warpgroup_slots(const sim_program *p, const sim_instruction *c,
                                                 sim_operand operand)
{
    const sim_warpgroup_product *x = sim_warpgroup_product_of(p, c);
    const int32_t *slots = (const int32_t *)(const void *)(x + 1);
    return operand == SIM_MATRIX_D ? slots : slots + x->part.registers[SIM_MATRIX_D];
}

/* Returns whether the layout of b is known: its swizzle must not be shorter than a column. */
bool sim_warpgroup_layout_is_known(const sim_warpgroup_product *x, uint64_t b_descriptor);

/* Computes the offset of each chunk of b, or of each chunk of a for one of the four warps. Offsets
 * may lie beyond the end of shared memory. Chunks are sorted by line: a row of a or a column of b,
 * or one step of k if the matrix is transposed. Returns the number of chunks. */
int sim_warpgroup_chunks(const sim_warpgroup_product *x, sim_operand operand, uint64_t descriptor,
                         uint32_t warp, uint32_t chunks[SIM_WARPGROUP_CHUNKS]);

/* Computes the product of a warp and writes the registers of d. If `keeps` is true, the old value
 * of d is added. `a_chunks` is ignored if a is in registers. */
void sim_warpgroup_multiply(const sim_program *p, const sim_instruction *c, const uint8_t *shared,
                            const uint32_t *a_chunks, const uint32_t *b_chunks, bool keeps,
                            uint8_t *registers);

/* Computes the undefined bits of d, in `undefined`. `written` tells which bytes of shared memory
 * are defined. Returns whether any element of d is undefined. */
bool sim_warpgroup_mark_undefined(const sim_program *p, const sim_instruction *c,
                                  const uint8_t *written, const uint32_t *a_chunks,
                                  const uint32_t *b_chunks, bool keeps, uint8_t *undefined);

#endif
