/* Strong accesses: threads synchronise at the places that these read and write, and an adverse
 * schedule does to them what a GPU may. */
#ifndef AUTOTUNE_SIM_MACHINE_STRONG_H
#define AUTOTUNE_SIM_MACHINE_STRONG_H

#include "sim/machine/places.h"

/* Does a strong access to that space find what others released? */
bool sim_is_released(const sim_block *b, ptx_space space, const sim_places *p);

/* A strong access of a lane has read, or written, its place. */
void sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, ptx_space space,
                     const sim_places *p);
void sim_strong_written(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        ptx_space space, const sim_places *p);

/* Lanes have looked at elements of `bytes`, and changed nothing: they may be polling. `offered`:
 * what each offered for it; NULL: nothing. */
void sim_strong_looked(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       ptx_space space, const sim_places *p, uint32_t bytes,
                       const uint32_t *offered);

/* So many bytes of a strong read at most may be found as they were. */
enum { SIM_LATE_BYTES = 16 };

/* In an adverse schedule a store that nothing orders before the read, or an atomic without a
 * result, most often comes late, the first time. Returns the lanes that find what it replaced,
 * which is in `before`. */
uint32_t sim_find_late(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       ptx_space space, const sim_places *p, uint32_t total,
                       uint8_t before[SIM_LANES][SIM_LATE_BYTES]);

/* In an adverse schedule others often have their turn between what a warp found or left in a place
 * that threads share and what it does next. */
void sim_give_way(sim_block *b, sim_warp *w, ptx_space space);

#endif
