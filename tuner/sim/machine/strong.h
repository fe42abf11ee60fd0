/* Strong accesses: which write of a location a read returns, and the position of a write in the
 * coherence order (history.h).
 *
 * In schedule 0 a read returns the newest write, and a write becomes the newest. In an adverse
 * schedule a read may return any write that coherence and causality order of the PTX ISA allow: for
 * each thread and location they give an oldest write that the thread may still read. A write may go
 * anywhere after that oldest one, but not between a read-modify-write and the write that it has
 * read. A polling thread reads each older write a few times at most, so that its loop ends. Reads
 * return writes that have been executed: load buffering does not occur. */
#ifndef AUTOTUNE_SIM_MACHINE_STRONG_H
#define AUTOTUNE_SIM_MACHINE_STRONG_H

#include "sim/machine/places.h"

/* Lets the lanes of `mask` read `bytes`. Returns the lanes that read older writes than memory
 * holds; `value` gets their values. */
uint32_t sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         const sim_places *p, uint32_t bytes,
                         uint8_t value[SIM_LANES][SIM_WRITE_BYTES]);

/* Prepares a store of `bytes` by a lane. Returns false if memory must stay as it is, because the
 * store comes before the newest write in the coherence order. */
bool sim_strong_store(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_places *p, const uint8_t *fresh, uint32_t bytes);

/* In place of the index of a write: the newest write, or a location without a history. */
enum { SIM_READS_MEMORY = -1 };

/* Chooses the write that a lane's read-modify-write reads. Returns its index, and its value in
 * `value`; or SIM_READS_MEMORY. `sought` is the operand that a compare-and-swap compares with, or
 * NULL. */
int sim_strong_choose(sim_block *b, const sim_warp *w, int lane, const sim_places *p,
                      uint32_t bytes, const void *sought, uint8_t *value);

/* Records a read-modify-write that has read the write `from`, with the value `old`. If `writes`, it
 * has written `fresh`, which memory already holds if `from` is SIM_READS_MEMORY. */
void sim_strong_updated(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_places *p, uint32_t bytes, int from, const uint64_t *old,
                        bool writes, const uint8_t *fresh, uint64_t operand);

/* Notes that lanes have read elements of `bytes` and changed nothing: they may be polling.
 * `offered` is the operand of each lane of an atomic, or NULL. */
void sim_strong_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     const sim_places *p, uint32_t bytes, const uint32_t *offered);

/* Returns whether an adverse schedule lets other warps run before the instruction reads strongly.
 * It may, since the read can still return older writes. */
bool sim_strong_waits(sim_block *b, const sim_warp *w, const sim_instruction *c);

/* Ends the warp's slice after a strong access: often in an adverse schedule, and in each schedule
 * after many such accesses, since a warp that waits for others may change memory meanwhile. */
void sim_yield(sim_block *b, sim_warp *w, ptx_space space);

#endif
