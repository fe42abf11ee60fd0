/* The critical path of a block: the time at which the block would end if it had an SM for itself.
 *
 * The input is each executed instruction of its warps, with the level of memory that an access
 * reaches. The output is the number of clocks from the start of the block to the end of its last
 * warp.
 *
 * An instruction begins when its operands are ready. It need not wait for the preceding
 * instructions of its loop iteration, because a compiler moves loads up. It waits for the last
 * branch, barrier, fence or wait, and for earlier iterations. ptxas unrolls a short loop four times
 * if it knows the counter. The number of registers limits the words that a thread's loads have
 * under way. Notes on the machine code in the PTX (ptx/parse.h) may limit them further. A branch
 * begins after the stores before it. A bulk copy ends at its mbarrier. */
#ifndef AUTOTUNE_SIM_MACHINE_TRACE_H
#define AUTOTUNE_SIM_MACHINE_TRACE_H

#include "sim/machine/run.h"

typedef enum sim_level { SIM_LEVEL_L1, SIM_LEVEL_L2, SIM_LEVEL_DRAM, SIM_LEVEL_COUNT } sim_level;

typedef struct sim_latencies { /* clocks until a dependent instruction can begin */
    uint32_t compute;          /* arithmetic on 32 bits and less */
    uint32_t wide;             /* arithmetic on doubles */
    uint32_t special, shuffle, constant, shared, barrier;
    uint32_t atomic; /* an atomic on global memory whose result is used */
    uint32_t fence;  /* a fence after a store */
    uint32_t levels[SIM_LEVEL_COUNT];
} sim_latencies;

typedef struct sim_trace sim_trace;
struct sim_block;
struct sim_warp;

/* Makes a trace for the clusters of a launch, one after another. A thread has registers for
 * `window` words of loads under way. Fails with AT_NO_MEMORY. */
at_status sim_trace_new(const sim_launch *launch, const sim_latencies *latencies, uint32_t window,
                        sim_trace **out, at_error *error);
void sim_trace_free(sim_trace *t); /* `t` may be NULL */

void sim_trace_begin(sim_trace *t);

/* Notes that part of the current access reaches `level`. The launch's observer calls this. */
void sim_trace_reach(sim_trace *t, sim_level level);

/* Returns the clocks from the start of the cluster to the latest end so far. */
uint64_t sim_trace_end(const sim_trace *t);

/* Adds an instruction that the lanes of `mask` have executed. The interpreter calls this. */
void sim_trace_step(sim_trace *t, const struct sim_block *b, const struct sim_warp *w,
                    const sim_instruction *c, uint32_t mask);

#endif
