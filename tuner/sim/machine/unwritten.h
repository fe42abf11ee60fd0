/* Bytes of memory that nothing wrote: loads that find them, stores that leave some.
 *
 * In: the places of an access. Out: the marks of which bytes are written, which registers have no
 * value (values.h); a fault where one is needed. */
#ifndef AUTOTUNE_SIM_MACHINE_UNWRITTEN_H
#define AUTOTUNE_SIM_MACHINE_UNWRITTEN_H

#include "sim/machine/places.h"

/* Finds a lane's bytes all written, or notes in b->met_unwritten that they are not, where the
 * instruction may read such; `what` is the access in words. False, with a fault. */
bool sim_look_for_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                            ptx_space space, const sim_places *p, uint32_t bytes, const char *what);

static inline bool sim_check_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                                     ptx_space space, const sim_places *p, uint32_t bytes,
                                     const char *what)
{
    /* Bytes of an excerpt that have no map may still be unseen. */
    return (!p->valid[lane] && !b->launch->excerpt) ||
           sim_look_for_unwritten(b, w, c, lane, space, p, bytes, what);
}

/* Is it what no launch changes, all of it written? */
bool sim_is_constant(uint32_t mask, ptx_space space, const sim_places *p);

/* The lanes of `mask` have loaded elements of `bytes`: bits that nothing wrote have no value.
 * False, with a fault: no memory. */
bool sim_lose_unwritten(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                        ptx_space space, const sim_places *p, uint32_t bytes);

/* The bits that nothing wrote of the `bytes` of a lane from byte *first on, which becomes the first
 * such byte. */
uint64_t sim_unwritten_bits(const sim_places *p, int lane, ptx_space space, uint32_t bytes,
                            uint32_t *first);

/* The lane has got them by an exchange, into that register. False, with a fault: no memory. */
bool sim_lose_exchanged(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        ptx_space space, const sim_places *p, int32_t slot, uint64_t bits);

/* Marks bytes of a region as written; `valid` is their map. */
void sim_mark_written(const sim_block *b, uint8_t *valid, uint32_t bytes, ptx_space space);

/* A lane stores what has no value in part: the gaps of a structure, which stay unwritten; or a
 * value that is missing: false, with a fault. A thread's own memory may hold such, and a block's:
 * a tile has places beyond the problem's end, and who uses what was put there is found then. Parts
 * are the elements of a vector, the halves of one. */
bool sim_store_missing(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       ptx_space space, const sim_places *p, uint32_t bytes);

#endif
