/* The instructions that the interpreter of a warp (warp.c) leaves to other modules.
 *
 * Each function executes the instruction `c` for the lanes of `mask`, at least one. Returns false
 * if it has recorded a fault in b->fault (fault.h). An instruction that must wait for other lanes
 * of the warp lets another path run first. The waiting path executes it again later. */
#ifndef AUTOTUNE_SIM_MACHINE_EXECUTE_H
#define AUTOTUNE_SIM_MACHINE_EXECUTE_H

#include "sim/machine/machine.h"

typedef bool sim_executor(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* access.c */
sim_executor sim_access;  /* loads, stores and atomics of any space */
sim_executor sim_discard; /* `discard`: a write of unspecified values */

/* lane_memory.c */
sim_executor sim_aligned; /* faults if an address is not a multiple of c->vector */

/* texture.c */
sim_executor sim_texture_fetch;
sim_executor sim_surface_find; /* computes the address of a surface element for the next
                                  instruction, which accesses it */

/* copies.c: cp.async */
sim_executor sim_copy_async;
sim_executor sim_copy_commit;
sim_executor sim_copy_wait;

/* bulk.c: cp.async.bulk, its tensor form, st.async */
sim_executor sim_bulk_copy;
sim_executor sim_bulk_group; /* commit_group and wait_group */
sim_executor sim_store_async;

/* mbarrier.c, barrier.c, shared.c */
sim_executor sim_mbarrier;
sim_executor sim_barrier_arrive;  /* bar.sync, bar.arrive and bar.red */
sim_executor sim_cluster_barrier; /* barrier.cluster.arrive and .wait */
sim_executor sim_cluster_map;     /* mapa and getctarank */

/* collective.c: shuffles, votes, matches, reductions, bar.warp.sync, activemask */
sim_executor sim_collective;

/* products.c: products of matrices by one warp (mma) and by four (wgmma) */
sim_executor sim_multiply;
sim_executor sim_warpgroup_execute;

/* paths.c: calls of functions that have a frame */
sim_executor sim_frames_call;
sim_executor sim_frames_return;

/* print.c: printf() and a failed assert(); arguments are in local memory, at lists[target] ... */
sim_executor sim_print;
sim_executor sim_assertion;
/* Hands the block's printed text to launch->prints. Call it before the block is reused or freed. */
void sim_print_end(sim_block *b);

/* heap.c */
sim_executor sim_heap_call; /* malloc() and free() */

#endif
