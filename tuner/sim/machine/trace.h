/* When a block would end that had an SM for itself: its critical path.
 *
 * In: the instructions of its warps as they are executed, with the level of the memory that each
 * access reached. Out: clocks from its start to the end of its last warp. An instruction begins
 * when its operands are there, whatever came before it in its iteration of a loop: a compiler moves
 * loads up. It stays after the last branch, barrier, fence or wait, and after all of the iterations
 * before; ptxas unrolls a short loop four times whose counter it knows. A thread has no more words
 * of loads under way than it has registers for, and no more than its machine code has where notes
 * of the PTX tell that (ptx/notes.h). What was stored before a branch stays before it. Bulk copies
 * end at the mbarrier that they name. */
#ifndef AUTOTUNE_SIM_MACHINE_TRACE_H
#define AUTOTUNE_SIM_MACHINE_TRACE_H

#include "sim/machine/run.h"

/* Where an access to global memory finds its data. */
typedef enum sim_level { SIM_LEVEL_L1, SIM_LEVEL_L2, SIM_LEVEL_DRAM, SIM_LEVEL_COUNT } sim_level;

typedef struct sim_latencies { /* clocks until a dependent instruction can begin */
    uint32_t compute;          /* arithmetic on 32 bits and less */
    uint32_t wide;             /* arithmetic on doubles */
    uint32_t special, shuffle, constant, shared, barrier;
    uint32_t levels[SIM_LEVEL_COUNT];
} sim_latencies;

typedef struct sim_trace sim_trace;

/* For clusters of a launch, one at a time; `window`: words of loads that a thread has registers
 * for. AT_NO_MEMORY. */
at_status sim_trace_new(const sim_launch *launch, const sim_latencies *latencies, uint32_t window,
                        sim_trace **out, at_error *error);
void sim_trace_free(sim_trace *t); /* NULL is fine */

/* A cluster begins. */
void sim_trace_begin(sim_trace *t);

/* Part of the present access reaches that level: the observer's to say. */
void sim_trace_reach(sim_trace *t, sim_level level);

/* Clocks from the cluster's start to what has ended last so far. */
uint64_t sim_trace_end(const sim_trace *t);

/* A warp of the block has executed an instruction on the lanes of `mask`: the machine's to say. */
void sim_trace_step(sim_trace *t, const struct sim_block *b, const struct sim_warp *w,
                    const sim_instruction *c, uint32_t mask);

#endif
