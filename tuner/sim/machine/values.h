/* Records which bits of registers and which bytes of memory have a value.
 *
 * values.c looks at each instruction of a warp before it runs. A fault is recorded if an address, a
 * condition, an operand of a warp operation or barrier, or a stored value comes from an
 * uninitialised register or from uninitialised memory. Missing values that are only moved or
 * computed with are no fault. A mask of bits without a value lies beside each register (Seward &
 * Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", USENIX 2005).
 *
 * A block keeps no masks until it loads uninitialised bytes, unless its program may read a register
 * before it writes it (sim_program.reads_unwritten). */
#ifndef AUTOTUNE_SIM_MACHINE_VALUES_H
#define AUTOTUNE_SIM_MACHINE_VALUES_H

#include "sim/machine/places.h"

/* Follows an instruction that the lanes of `mask` of the top path are about to execute: result bits
 * have no value if the bits that they come from have none. Returns false, with a fault, if a needed
 * value is missing. Requires that w->lacks is not NULL. */
bool sim_values_step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Follows an exchange between lanes that have met: lane l by the instruction of[l], and from lane
 * from[l] in a shuffle. Returns false, with a fault, as above. */
bool sim_values_exchange(sim_block *b, sim_warp *w, const sim_instruction *const of[],
                         const int8_t from[SIM_LANES], uint32_t mask);

/* Follows a product of matrices by one warp. Returns false, with a fault, as above. */
bool sim_values_multiply(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Follows a product by a warpgroup, whose pieces of shared memory are given. `keeps`: the product
 * is added to the old value of d. */
void sim_values_warpgroup(sim_block *b, sim_warp *w, const sim_instruction *c,
                          const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps);

/* The following functions are in unwritten.c. */

enum {
    SIM_ORIGIN_BYTES = SIM_PLACE_BYTES + 64, /* size of the text of an origin */
    SIM_ORIGIN_REGISTER = 0                  /* the origin of uninitialised registers */
};

void sim_values_reserve(sim_block *b); /* allocates the masks of a block */
/* Starts a block, with masks if its program may read uninitialised registers. */
void sim_values_start(sim_block *b);
void sim_values_free(sim_block *b);

/* Begins to keep masks for the block, if it has none. */
void sim_values_keep(sim_block *b, const sim_warp *w);

/* Returns the number of the load at `pc` among the block's origins. Adds a new load, at the place
 * `where`. Returns SIM_ORIGIN_REGISTER if there is no room. */
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

/* Records the fault of a lane that needs the register for `what` ("the address"). Returns false. */
bool sim_values_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                     int32_t slot, const char *what);

/* Returns whether the instruction may read uninitialised bytes. An unused load is no fault: a
 * structure is copied with its gaps, and an exchange may be meant as a store. */
static inline bool sim_values_may_lack(const sim_instruction *c)
{
    return c->kind == SIM_LOAD || c->kind == SIM_WARPGROUP_PRODUCT ||
           (c->kind == SIM_ATOMIC && c->op == SIM_ATOMIC_EXCH);
}

/* Notes that the lane got `bits` without a value into the register, from the place `where`. `local`
 * is the byte's entry in local_valid for local memory, otherwise NULL. */
void sim_values_lose(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, int32_t slot,
                     uint64_t bits, const char *where, const uint8_t *local);

/* Checks that a lane's bytes are all written. If not, sets b->met_unwritten if the instruction may
 * read such bytes, or returns false, with a fault that names the access by `what`. */
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

/* Marks as bits without a value the uninitialised bytes of the loaded elements of `bytes`. */
void sim_lose_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                        const sim_places *p, uint32_t bytes);

/* Returns the uninitialised bits of a lane's `bytes` from byte *first on. *first becomes the first
 * uninitialised byte. */
uint64_t sim_unwritten_bits(const sim_places *p, int lane, uint32_t bytes, uint32_t *first);

/* Marks `bits` of a lane's register as missing, from byte `first` of memory on; `bits` may be 0. */
void sim_lose_bits(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                   const sim_places *p, uint32_t first, int32_t slot, uint64_t bits);

/* Marks bytes of memory as written; `valid` is their map, or NULL. */
void sim_mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space);

/* Handles a lane's store of a partly missing value. Gaps of a structure (a whole element of a
 * vector, or a half of a scalar) stay unwritten. Local and shared memory may hold missing values: a
 * tile often reaches beyond the end of a problem, and a use is a fault later. Any other store
 * returns false, with a fault. */
bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_places *p, uint32_t bytes);

#endif
