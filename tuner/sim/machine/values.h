/* Which bits of registers and which bytes of memory have a value.
 *
 * values.c looks at each instruction of a warp before it runs. A fault is recorded if an address, a
 * condition, or an operand of a warp operation or barrier comes from an uninitialised register,
 * or from uninitialised memory, or if such a value is stored. Values that are only moved or
 * computed with, and then dropped, are no fault. A mask of bits without a value lies beside each
 * register (Seward & Nethercote, "Using Valgrind to detect undefined value errors with
 * bit-precision", USENIX 2005).
 *
 * unwritten.c has the loads that find uninitialised bytes, the stores that leave such bytes,
 * and the origins that faults name.
 *
 * A block keeps no masks until it loads uninitialised bytes, unless its program may read a
 * register before it writes it (sim_program.reads_unwritten). */
#ifndef AUTOTUNE_SIM_MACHINE_VALUES_H
#define AUTOTUNE_SIM_MACHINE_VALUES_H

#include "sim/machine/places.h"

/* Follows an instruction that the lanes of `mask` of the top path are about to execute: bits of its
 * result have no value if the bits that they come from have none. Returns false, with a fault, if
 * the instruction needs a value that is missing. Call it only if w->lacks is not NULL. */
bool sim_values_step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Does the same for lanes that exchange values, lane l by the instruction of[l], when they have
 * met. from[l] is the lane that a shuffle reads. */
bool sim_values_exchange(sim_block *b, sim_warp *w, const sim_instruction *const of[],
                         const int8_t from[SIM_LANES], uint32_t mask);

/* Does the same for a product of matrices by one warp. */
bool sim_values_multiply(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Does the same for a product by a warpgroup, whose pieces of shared memory are given. `keeps`: the
 * product is added to the old value of d. */
void sim_values_warpgroup(sim_block *b, sim_warp *w, const sim_instruction *c,
                          const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps);

/* The functions below are in unwritten.c. */

enum {
    SIM_ORIGIN_BYTES = SIM_PLACE_BYTES + 64, /* size of the text of an origin */
    SIM_ORIGIN_REGISTER = 0                  /* the origin of uninitialised registers */
};

void sim_values_reserve(sim_block *b); /* allocates the masks of a block */
/* Starts a block. If its program may read uninitialised registers, the masks are there. */
void sim_values_start(sim_block *b);
void sim_values_free(sim_block *b);

/* Begins to keep masks for the block, unless it does already. */
void sim_values_keep(sim_block *b, const sim_warp *w);

/* Returns the number of the load at `pc` among the block's origins, and adds it if it is new;
 * `where` tells its place. Returns SIM_ORIGIN_REGISTER if there is no room. */
uint16_t sim_values_origin(sim_block *b, int32_t pc, const char *where);

/* Returns the mask of a register, 4 or 8 bytes a lane: bits that have no value. */
static inline uint32_t *sim_lacks32(const sim_warp *w, int32_t slot)
{
    return (uint32_t *)(void *)(w->lacks + slot);
}
static inline uint64_t *sim_lacks64(const sim_warp *w, int32_t slot)
{
    return (uint64_t *)(void *)(w->lacks + slot);
}

/* Returns a mask with the low `bytes` of 8 bytes set. */
static inline uint64_t sim_low_bits(uint32_t bytes)
{
    return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

/* Records the fault of a lane that needs the register for `what`, such as "the address". Returns
 * false. */
bool sim_values_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                     int32_t slot, const char *what);

/* Tells whether the instruction may read uninitialised bytes. An unused load is no fault: a
 * structure is copied with its gaps, and an exchange may be meant as a store. */
static inline bool sim_values_may_lack(const sim_instruction *c)
{
    return c->kind == SIM_LOAD || c->kind == SIM_WARPGROUP_PRODUCT ||
           (c->kind == SIM_ATOMIC && c->op == SIM_ATOMIC_EXCH);
}

/* Notes that the lane got `bits` without a value into the register, from the place that `where`
 * tells. `local` is the entry of the byte in local_valid if it comes from local memory, otherwise
 * NULL. */
void sim_values_lose(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, int32_t slot,
                     uint64_t bits, const char *where, const uint8_t *local);

/* Checks that a lane's bytes are all written. If they are not, and the instruction may read such
 * bytes, sets b->met_unwritten. Otherwise returns false, with a fault that names the access by
 * `what`. */
bool sim_find_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_places *p, uint32_t bytes, const char *what);
static inline bool sim_check_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                     const sim_places *p, uint32_t bytes, const char *what)
{
    /* Bytes without a map may still be missing in an excerpt. */
    return (!p->valid[lane] && !b->launch->excerpt) ||
           sim_find_unwritten(b, w, c, lane, p, bytes, what);
}

/* Returns whether all these bytes are written and no launch changes them. */
bool sim_is_constant(uint32_t mask, const sim_places *p);

/* Marks the uninitialised bytes of the elements of `bytes` that the lanes have loaded as bits
 * without a value. */
void sim_lose_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                        const sim_places *p, uint32_t bytes);

/* Returns the uninitialised bits of a lane's `bytes` from byte *first on. *first becomes the
 * first such byte. */
uint64_t sim_unwritten_bits(const sim_places *p, int lane, uint32_t bytes, uint32_t *first);

/* Does the same for `bits` of one register of a lane, which may be 0, from byte `first` on. */
void sim_lose_bits(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   const sim_places *p, uint32_t first, int32_t slot, uint64_t bits);

/* Marks bytes of memory as written; `valid` is their map, or NULL. */
void sim_mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space);

/* Handles a store of a lane whose value is missing in part. Gaps of a structure stay unwritten: a
 * gap is a whole element of a vector, or a half of a scalar. Local memory and shared memory may
 * hold missing values: a tile often has elements beyond the end of a problem, and their use is a
 * fault later. Any other store returns false, with a fault. */
bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_places *p, uint32_t bytes);

#endif
