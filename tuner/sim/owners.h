/* Finds and runs the blocks of a kernel that write a given byte, for kernels too large to be run
 * whole. The plan has one launch, whose blocks do not depend on each other. All blocks are assumed
 * to write the same shape at offsets that grow evenly along each axis of the grid, as if each
 * thread wrote one element or each block one row. The module runs the first blocks along each axis
 * to measure the steps. Then it runs the block that should write the byte, and checks whether the
 * block did. Blocks run at most once and write to the given buffers. */
#ifndef AUTOTUNE_SIM_OWNERS_H
#define AUTOTUNE_SIM_OWNERS_H

#include "sim/device.h"

typedef struct sim_owners sim_owners;

/* Borrows kernel, plan and buffers. Buffers that the kernel writes must have `valid`. No block
 * starts once all blocks together have done `most` work, and no block does more than the rest of
 * `most`. The caller frees the result with sim_owners_free(). */
sim_owners *sim_owners_new(const device *d, const device_kernel *k, const launch_plan *plan,
                           device_buffer *const *buffers, uint64_t most);
void sim_owners_free(sim_owners *o); /* `o` may be NULL */

/* Runs single warps in place of blocks, unless clusters have several blocks. The warps must not
 * depend on each other. No block may have run yet. */
void sim_owners_run_single_warps(sim_owners *o);

/* Runs blocks to find one that writes the byte at `offset` of buffer `i`. Sets *found to whether a
 * block wrote it. Returns AT_OK even if a block faults: see sim_owners_fault(). */
at_status sim_owners_write(sim_owners *o, uint32_t i, uint64_t offset, bool *found,
                           at_error *error);

/* Returns whether a block that ran wrote the byte. */
bool sim_owners_has_written(const sim_owners *o, uint32_t i, uint64_t offset);

uint64_t sim_owners_cluster_blocks(const sim_owners *o);

/* Returns whether the blocks that ran write buffer `i`. False before sim_owners_write(). */
bool sim_owners_has_footprint(const sim_owners *o, uint32_t i);

/* Returns whether two clusters that ran begin to write buffer `i` at the same byte. If so, sets
 * `clusters` and *from, this byte. */
bool sim_owners_find_overlap(const sim_owners *o, uint32_t i, uint64_t clusters[2], uint64_t *from);

/* Returns the most bytes of buffer `i` that a cluster wrote, or UINT64_MAX if fewer than half of
 * the clusters that ran wrote as many. */
uint64_t sim_owners_most_bytes(const sim_owners *o, uint32_t i);

/* Runs all blocks, without a limit of instructions. */
at_status sim_owners_write_all(sim_owners *o, at_error *error);

/* Returns whether the limit of work stopped a block or is used up. */
bool sim_owners_is_exhausted(const sim_owners *o);

/* Returns the first fault of a block. Its kind is SIM_FAULT_NONE if there was no fault. */
const sim_fault *sim_owners_fault(const sim_owners *o);

#endif
