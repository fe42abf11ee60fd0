/* Records which bits of registers and which bytes of memory have a value.
 *
 * values.c examines each instruction of a warp before it runs. It is a fault if an address, a
 * condition, an operand of a warp operation or barrier, or a stored value comes from an
 * uninitialised register or uninitialised memory. Other instructions may move or compute with
 * missing values. Each register has a mask of the bits without a value (Seward & Nethercote, "Using
 * Valgrind to detect undefined value errors with bit-precision", USENIX 2005).
 *
 * A block keeps no masks until it loads uninitialised bytes, unless its program may read a register
 * before writing it (sim_program.reads_unwritten). */
#ifndef AUTOTUNE_SIM_MACHINE_VALUES_H
#define AUTOTUNE_SIM_MACHINE_VALUES_H

#include "sim/machine/lane_memory.h"

/* Checks an instruction that the lanes of `mask` of the top path are about to execute, and computes
 * the masks of its results: result bits have no value if they depend on bits without one. Returns
 * false, with a fault, if a needed value is missing. Requires that w->missing is not NULL. */
bool sim_values_step(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Like sim_values_step(), for an exchange: lane l executes of[l]; a shuffle reads lane from[l]. */
bool sim_values_exchange(sim_block *b, sim_warp *w, const sim_instruction *const of[],
                         const int8_t from[SIM_LANES], uint32_t mask);

/* Like sim_values_step(), for a product of matrices by one warp. */
bool sim_values_multiply(sim_block *b, sim_warp *w, const sim_instruction *c);

/* Computes the masks of the result of a product by a warpgroup, which reads the given pieces of
 * shared memory. If `keeps` is true, the product is added to the old value of d. */
void sim_values_warpgroup(sim_block *b, sim_warp *w, const sim_instruction *c,
                          const uint32_t *a_pieces, const uint32_t *b_pieces, bool keeps);

/* The following functions are in unwritten.c. */

enum {
    SIM_ORIGIN_BYTES = SIM_ADDRESS_TEXT_BYTES + 64, /* most bytes of the text of an origin */
    SIM_ORIGIN_REGISTER = 0 /* the origin of bits that come from an uninitialised register */
};

void sim_values_reserve(sim_block *b); /* allocates the masks of a block */
/* Prepares a block that starts. Begins masks if its program may read unwritten registers. */
void sim_values_start(sim_block *b);
void sim_values_free(sim_block *b);

/* Begins to keep masks for the block, if it keeps no masks yet. */
void sim_values_keep(sim_block *b, const sim_warp *w);

/* Returns the number of the load at `pc` among the block's origins. Adds the load if it is new;
 * `where` names the bytes that it read. Returns SIM_ORIGIN_REGISTER if there is no room. */
uint16_t sim_values_origin(sim_block *b, int32_t pc, const char *where);

/* Return the mask of a register of 4 or 8 bytes a lane: the bits that have no value. */
static inline uint32_t *sim_missing32(const sim_warp *w, int32_t slot)
{
    return (uint32_t *)(void *)(w->missing + slot);
}
static inline uint64_t *sim_missing64(const sim_warp *w, int32_t slot)
{
    return (uint64_t *)(void *)(w->missing + slot);
}

/* Returns a mask with the low `bytes` of 8 bytes set. */
static inline uint64_t sim_low_bits(uint32_t bytes)
{
    return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

/* Records a fault: a register that a lane needs for `what` has no value. Returns false. */
bool sim_values_fail(sim_block *b, const sim_warp *w, const sim_instruction *c, int lane,
                     int32_t slot, const char *what);

/* Returns whether the instruction may read uninitialised bytes: a load, because a copied structure
 * may have gaps (only a use is a fault), or an exchange, because it may be meant as a store. */
static inline bool sim_values_may_be_missing(const sim_instruction *c)
{
    return c->kind == SIM_LOAD || c->kind == SIM_WARPGROUP_PRODUCT ||
           (c->kind == SIM_ATOMIC && c->op == SIM_ATOMIC_EXCH);
}

/* Notes that a lane's register got `bits` without a value from the source `where`. `local` is the
 * entry of the source byte in local_valid for local memory, otherwise NULL. */
void sim_values_mark_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             int32_t slot, uint64_t bits, const char *where, const uint8_t *local);

/* Checks that a lane's bytes are all written. If they are not, sets b->met_unwritten if the
 * instruction may read them; otherwise returns false, with a fault that calls the access `what`. */
bool sim_find_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_lane_memory *p, uint32_t bytes, const char *what);
static inline bool sim_check_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                     const sim_lane_memory *p, uint32_t bytes, const char *what)
{
    /* In an excerpt, bytes may be missing although they have no map. */
    return (!p->valid[lane] && !b->launch->excerpt) ||
           sim_find_unwritten(b, w, c, lane, p, bytes, what);
}

/* Returns whether the bytes that the lanes of `mask` access are all written and never change. */
bool sim_is_constant(uint32_t mask, const sim_lane_memory *p);

/* Marks uninitialised bytes as missing in loaded registers. Each element has `bytes` bytes. */
void sim_mark_missing_bytes(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            const sim_lane_memory *p, uint32_t bytes);

/* Returns the uninitialised bits among the `bytes` that a lane accesses from byte *first on. If
 * there are any, sets *first to the first uninitialised byte. */
uint64_t sim_unwritten_bits(const sim_lane_memory *p, int lane, uint32_t bytes, uint32_t *first);

/* Marks `bits` of a lane's register as missing; `bits` may be 0. The first byte without a value is
 * byte `first` of the access. */
void sim_mark_missing_bits(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                           const sim_lane_memory *p, uint32_t first, int32_t slot, uint64_t bits);

/* Marks bytes as written in their map `valid`, which may be NULL. */
void sim_mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space);

/* Handles a lane's store of a partly missing value. Gaps of a structure (a whole element of a
 * vector, or a half of a scalar) stay unwritten. Local and shared memory may get missing values,
 * since a tile often reaches beyond the end of a problem; a later use of the value is a fault.
 * Otherwise returns false, with a fault. */
bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_lane_memory *p, uint32_t bytes);

#endif
