/* Strong accesses: the write that a read returns, and the position of a write in the coherence
 * order (history.h).
 *
 * In schedule 0 a read returns the newest write, and a write becomes the newest. In an adverse
 * schedule a read may return any write that the coherence and causality orders of the PTX ISA
 * allow. These orders give the oldest write that each thread may still read from a location. A
 * write may take any position after that write, but not between a read-modify-write and the write
 * that it has read. A polling thread reads each older write a few times at most, so that its loop
 * ends. No read returns a write that is executed later: load buffering does not occur. */
#ifndef AUTOTUNE_SIM_MACHINE_STRONG_H
#define AUTOTUNE_SIM_MACHINE_STRONG_H

#include "sim/machine/lane_memory.h"

/* Executes strong reads of `bytes` by the lanes of `mask`. Returns the lanes that read an older
 * write than memory holds; `value` gets the values that they read. */
uint32_t sim_strong_read(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         const sim_lane_memory *p, uint32_t bytes,
                         uint8_t value[SIM_LANES][SIM_WRITE_BYTES]);

/* Prepares a lane's store of `bytes`. Returns false if the caller must not change memory, because
 * the store precedes the newest write in the coherence order. */
bool sim_strong_store(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_lane_memory *p, const uint8_t *fresh, uint32_t bytes);

/* Stands for the index of a write: the lane reads memory, which holds the newest write. */
enum { SIM_READS_MEMORY = -1 };

/* Chooses the write that a lane's read-modify-write reads. Returns its index and, in `value`, its
 * value; or returns SIM_READS_MEMORY. `sought` is the comparand of a compare-and-swap, or NULL. */
int sim_strong_choose(sim_block *b, const sim_warp *w, int lane, const sim_lane_memory *p,
                      uint32_t bytes, const void *sought, uint8_t *value);

/* Records a read-modify-write that read the value `old` of the write with index `from`. If `writes`
 * is true, the new value is `fresh`. Memory already holds it if `from` is SIM_READS_MEMORY. */
void sim_strong_updated(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                        const sim_lane_memory *p, uint32_t bytes, int from, const uint64_t *old,
                        bool writes, const uint8_t *fresh, uint64_t operand);

/* Notes that lanes read elements of `bytes` and changed nothing: they may be polling. `offered` has
 * each lane's operand of an atomic, or is NULL. */
void sim_strong_poll(const sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     const sim_lane_memory *p, uint32_t bytes, const uint32_t *offered);

/* Returns whether an adverse schedule lets other warps run before a strong read. The read can then
 * return their writes or still older writes. */
bool sim_strong_waits(sim_block *b, const sim_warp *w, const sim_instruction *c);

/* Ends the warp's slice after a strong access, because other warps may have to change memory first.
 * In an adverse schedule this happens often, in schedule 0 after many strong accesses. */
void sim_yield(sim_block *b, sim_warp *w, ptx_space space);

#endif
