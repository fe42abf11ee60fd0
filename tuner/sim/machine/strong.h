/* Strong accesses: which write of a location a read returns, and where a write goes in the
 * coherence order (sim/machine/history.h).
 *
 * In the order of schedule 0 a read returns the newest write, and a write becomes the newest. In an
 * adverse schedule a read may return any write that the thread has not passed: coherence and
 * causality order of the PTX ISA give each thread an oldest write of each location that it may
 * still read. A write may go anywhere after that one, but not between a read-modify-write and the
 * write that this has read. A thread that polls reads each older write a few times at most, so that
 * its loop ends. Reads return writes that were executed: load buffering does not occur. */
#ifndef AUTOTUNE_SIM_MACHINE_STRONG_H
#define AUTOTUNE_SIM_MACHINE_STRONG_H

#include "sim/machine/history.h"
#include "sim/machine/places.h"

/* The lanes of `mask` read `bytes` of what memory holds. Returns the lanes that read older writes,
 * whose values are in `value`. */
uint32_t sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         ptx_space space, const sim_places *p, uint32_t bytes,
                         uint8_t value[SIM_LANES][SIM_WRITE_BYTES]);

/* A lane is about to store `bytes`. Returns false if memory keeps what it holds, because the store
 * comes before that in the coherence order. */
bool sim_strong_store(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      ptx_space space, const sim_places *p, const uint8_t *fresh, uint32_t bytes);

/* A read-modify-write in progress: the index of the write that it reads. SIM_READS_MEMORY: the
 * newest, or of a location without a history. */
enum { SIM_READS_MEMORY = -1 };

/* Chooses the write that the read-modify-write of a lane reads; `value` gets that of an older one.
 * `sought` is what a compare-and-swap compares with, else NULL. */
int sim_strong_choose(sim_block *b, const sim_warp *w, int lane, ptx_space space,
                      const sim_places *p, uint32_t bytes, const void *sought, uint8_t *value);
/* It has read the write `from`, whose value was `old`, and (`writes`) written `fresh`, which memory
 * holds if `from` is SIM_READS_MEMORY. */
void sim_strong_updated(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        ptx_space space, const sim_places *p, uint32_t bytes, int from,
                        const uint64_t *old, bool writes, const uint8_t *fresh, uint64_t operand);

/* Lanes have looked at elements of `bytes`, and changed nothing: they may be polling. `offered` is
 * what each offered for it, or NULL. */
void sim_strong_looked(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                       ptx_space space, const sim_places *p, uint32_t bytes,
                       const uint32_t *offered);

/* Does an adverse schedule let others go on before the instruction reads strongly? Older writes
 * stand for what it would have read before. */
bool sim_strong_waits(sim_block *b, const sim_warp *w, const sim_instruction *c);

/* Lets others go on after a strong access: in an adverse schedule often, and in each schedule after
 * many such accesses, since a warp that waits for others may change memory meanwhile. */
void sim_give_way(sim_block *b, sim_warp *w, ptx_space space);

#endif
