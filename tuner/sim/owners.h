/* Which blocks of a kernel write a given place, of a kernel too large to be run whole.
 *
 * In: a plan of one launch, whose blocks depend on none of each other. Blocks are taken to write
 * the same shape at places that grow evenly along each axis of the grid, as where each thread has
 * its element, or each block its row. The first blocks of the axes are run to see how far apart.
 * Out: the block that should write there is run, and what it wrote tells whether it did. Everything
 * that runs writes to the buffers that it is given, once. */
#ifndef AUTOTUNE_SIM_OWNERS_H
#define AUTOTUNE_SIM_OWNERS_H

#include "sim/device.h"

typedef struct sim_owners sim_owners;

/* Kernel, plan and buffers are borrowed; buffers that it writes need `valid`. No block begins once
 * all have executed `most` instructions, or takes more than is left. The caller frees it. */
sim_owners *sim_owners_new(const device *d, const device_kernel *k, const launch_plan *plan,
                           device_buffer *const *buffers, uint64_t most);
void sim_owners_free(sim_owners *o); /* NULL is fine */

/* From now on the first warp of each block is all that runs of it, of a kernel whose warps do not
 * need each other. */
void sim_owners_run_first_warps(sim_owners *o);

/* Has the byte at `offset` of buffer `i` written, if a block can be found that does; *found says
 * so. AT_OK also where a block faults: sim_owners_fault() says how. */
at_status sim_owners_write(sim_owners *o, uint32_t i, uint64_t offset, bool *found,
                           at_error *error);

/* Did one that ran write it? */
bool sim_owners_has_written(const sim_owners *o, uint32_t i, uint64_t offset);

/* Blocks of a cluster. */
uint64_t sim_owners_cluster_blocks(const sim_owners *o);

/* Is there a buffer `i` that the blocks write, as far as was seen? False before
 * sim_owners_write(). */
bool sim_owners_knows(const sim_owners *o, uint32_t i);

/* Are there two clusters among those that ran which begin to write in the same place, *from? */
bool sim_owners_doubled(const sim_owners *o, uint32_t i, uint64_t clusters[2], uint64_t *from);

/* The most bytes of buffer `i` that a cluster wrote, if as many as half of those that ran wrote so
 * many; else UINT64_MAX. */
uint64_t sim_owners_most_bytes(const sim_owners *o, uint32_t i);

/* Runs all blocks, without a limit. */
at_status sim_owners_write_all(sim_owners *o, at_error *error);

/* Did a block take more than it may, or all of them together? */
bool sim_owners_spent(const sim_owners *o);

/* The first fault of any block; kind SIM_FAULT_NONE: there was none. */
const sim_fault *sim_owners_fault(const sim_owners *o);

#endif
