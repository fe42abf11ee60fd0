/* Products of matrices by four warps, d = a * b + d (wgmma): where the elements lie in shared
 * memory and in registers, and what comes out. PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Multiply-Accumulate Instructions".
 *
 * Each warp of the four computes 16 rows of d, of the 16 rows of a that are its own and of all of
 * b. The fragments of these 16 rows, and the metadata of sparse ones, are those of mma
 * (sim/program/matrix.h). A row of a, or a column of b, has always 32 bytes along k, whatever its
 * elements are; a column of b 64 where a is sparse.
 *
 * A matrix in shared memory consists of pieces of 16 bytes, which go along k or, where it is turned
 * ("MN-major", of 16-bit elements alone), across. Its descriptor tells where they are; the bits of
 * their addresses are exchanged as tensor copies exchange them. */
#ifndef AUTOTUNE_SIM_PROGRAM_WARPGROUP_H
#define AUTOTUNE_SIM_PROGRAM_WARPGROUP_H

#include "sim/program/matrix.h"

enum {
    SIM_WARPGROUP_WARPS = 4,
    SIM_WARPGROUP_ROWS = 16,     /* of a warp */
    SIM_WARPGROUP_COLUMNS = 256, /* at most */
    SIM_WARPGROUP_BYTES = 32,    /* of a row of a */
    SIM_WARPGROUP_PIECE_BYTES = 16,
    SIM_WARPGROUP_PIECES = 4 * SIM_WARPGROUP_COLUMNS /* of an operand, at most */
};

typedef struct sim_warpgroup_product {
    sim_matrix part; /* of a warp: m is its rows. Registers of a are 0 where it is in shared memory;
                        c is d, and has none of its own */
    int32_t negated; /* is -a * b added? */
    int32_t turned[2]; /* are a and b MN-major? */
} sim_warpgroup_product;

/* A product of a program has it in lists at `list`, and the slots of d and a after it. */
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

/* Is the layout that the descriptor of b tells known? Not where the swizzle is shorter than a
 * column. */
bool sim_warpgroup_knows(const sim_warpgroup_product *x, uint64_t b_descriptor);

/* The pieces of a, for that warp of the four, or of b: offsets in shared memory, which may be
 * beyond its end. Line by line; a line is a row of a or a column of b, or where they are turned
 * one step of k. Returns how many there are. */
int sim_warpgroup_pieces(const sim_warpgroup_product *x, sim_operand operand, uint64_t descriptor,
                         uint32_t warp, uint32_t pieces[SIM_WARPGROUP_PIECES]);

/* Fills the registers of d of a warp; `keeps`: what is in them is added. The pieces of a are not
 * looked at where it is in registers. */
void sim_warpgroup_multiply(const sim_program *p, const sim_instruction *c, const uint8_t *shared,
                            const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps,
                            uint8_t *registers);
/* Does the same of bits that have no value, where `written` says of each byte of shared memory
 * whether it has one. Tells whether any element of d has none. */
bool sim_warpgroup_lose(const sim_program *p, const sim_instruction *c, const uint8_t *written,
                        const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps,
                        uint8_t *lacks);

#endif
