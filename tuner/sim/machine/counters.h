/* Requests, sectors and wavefronts of a warp's memory accesses, by Nsight Compute's definitions.
 * sim/decode/reshape.h gives the accesses that ptxas makes of an instruction.
 *
 * Global memory: a request is one load or store instruction of a warp with at least one active
 * lane. Its sectors are the distinct aligned 32-byte pieces that its lanes access
 * (l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum, l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
 * and the same for st).
 *
 * Shared memory has 32 banks of 4 bytes. A wavefront serves one word of each bank to any number of
 * lanes. Accesses of 8 bytes are served in halves of a warp, accesses of 16 bytes in quarters.
 * Loads are served in groups twice as large if all active lanes l and l ^ 1, or all l and l ^ 2,
 * request the same words. Each group needs one wavefront; each further one is a conflict
 * (l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum and st). The rules were found from 469
 * access shapes on an H200 (tests/bench/shared_shapes.py). */
#ifndef AUTOTUNE_SIM_MACHINE_COUNTERS_H
#define AUTOTUNE_SIM_MACHINE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/program/program.h"

enum { SIM_SECTOR_BYTES = 32, SIM_BANKS = 32, SIM_BANK_BYTES = 4 };

typedef struct sim_counter { /* the counters of one instruction, or the sum of several */
    uint64_t issued;         /* times that a warp issued the instruction */
    uint64_t threads;        /* sum of the active lanes at each issue */
    uint64_t requests;       /* requests to global or local memory */
    uint64_t sectors;
    uint64_t fewest; /* sectors that the requested bytes would fill without gaps, summed over
                        requests */
    uint64_t bytes;  /* distinct bytes requested */
    uint64_t turns;  /* atomics: lanes that wait for other lanes on the same bytes */
    uint64_t shared_requests;
    uint64_t wavefronts; /* wavefronts of shared memory */
    uint64_t ideal;      /* wavefronts without conflicts */
    uint64_t conflicts;  /* wavefronts - ideal; 0 for atomics of 8 bytes */
    uint64_t constant_requests;
    uint64_t constant_passes; /* one for each distinct address in a request */
} sim_counter;

/* The sectors of one request. */
typedef struct sim_sectors {
    int count;
    uint64_t sector[SIM_LANES]; /* address / 32 */
    uint32_t used[SIM_LANES];   /* one bit for each requested byte of the sector */
    uint8_t lanes[SIM_LANES];   /* number of lanes that access each sector */
} sim_sectors;

/* Finds the sectors of an aligned access of `bytes` a lane: a power of two up to 32. */
void sim_sectors_collect(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                         sim_sectors *out);

void sim_counter_add_sectors(sim_counter *c, const sim_sectors *s);

/* Adds an access to shared memory of `bytes` a lane (at most 16). */
void sim_counter_add_shared(sim_counter *c, const uint64_t *addresses, uint32_t mask,
                            uint32_t bytes, bool is_store);
/* Adds an atomic on shared memory, which serves the lanes of one word one after another. */
void sim_counter_add_shared_atomic(sim_counter *c, const uint64_t *addresses, uint32_t mask,
                                   uint32_t bytes);

/* Adds the turns of an atomic on global memory, which serves the lanes of one address one after
 * another. The caller adds the atomic's sectors. */
void sim_counter_add_turns(sim_counter *c, const uint64_t *addresses, uint32_t mask);

/* Adds a load from constant memory. The constant cache serves any number of lanes with one address
 * in each pass (CUDA C++ Programming Guide, "Constant Memory"). */
void sim_counter_add_constant(sim_counter *c, const uint64_t *addresses, uint32_t mask);

void sim_counter_sum(sim_counter *to, const sim_counter *from);

/* Sums over a program by memory space and kind of access. */
typedef struct sim_totals {
    sim_counter global_load, global_store, global_atomic, async_copy;
    sim_counter shared_load, shared_store, shared_atomic;
    sim_counter local, constant;
    uint64_t issued[SIM_CLASS_COUNT];
    uint64_t issued_total, threads_total;
} sim_totals;

/* Sums `counters`, one for each instruction of the program. */
void sim_totals_compute(const sim_program *p, const sim_counter *counters, sim_totals *out);

const char *sim_class_name(sim_class c); /* returns "integer", "float" ... */

#endif
