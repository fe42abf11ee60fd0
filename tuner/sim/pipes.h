/* The work of an SM's pipes for one instruction of PTX.
 *
 * In: a program and how often warps issued each of its instructions. Out: how many machine
 * instructions that is, by pipe. Notes in the PTX tell what ptxas made of each statement
 * (ptx/notes.h). Where there are none, the instruction's cost (sim/instructions.def) tells it. */
#ifndef AUTOTUNE_SIM_PIPES_H
#define AUTOTUNE_SIM_PIPES_H

#include "sim/machine/counters.h"

typedef struct sim_issue {        /* of a block */
    double total;                 /* machine instructions of all its warps */
    double pipes[SIM_PIPE_COUNT]; /* of these, by the pipe that executes them */
    double code_bytes;            /* of the machine code that is executed */
    double locals; /* accesses to local memory, of spilled registers too; negative: only those of
                      the PTX are known */
} sim_issue;

/* Warp instructions that each pipe takes a clock on an SM of that compute capability: "Throughput
 * of Native Arithmetic Instructions" in the CUDA C++ Programming Guide 13.0, over 32 lanes. */
void sim_pipe_rates(int major, int minor, double out[SIM_PIPE_COUNT]);

/* Divides the sums by `blocks`. */
void sim_issue_find(const sim_program *p, const sim_counter *counters, double blocks,
                    sim_issue *out);

const char *sim_pipe_name(sim_pipe pipe); /* "additions and products of floats" ... */

#endif
