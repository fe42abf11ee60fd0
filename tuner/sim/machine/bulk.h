/* Bulk copies. Those to shared memory land when a thread asks the barrier that they report to
 * (mbarrier.h). PTX ISA, "cp.async.bulk" and "proxies". */
#ifndef AUTOTUNE_SIM_MACHINE_BULK_H
#define AUTOTUNE_SIM_MACHINE_BULK_H

#include "sim/machine/machine.h"

bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_store_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Part of a copy between shared memory, at an address of the block's or the cluster's, and global:
 * `moved` of its bytes, from `skip` on. On the way in the others become zeros, or NaN of so many
 * bytes each. */
typedef struct sim_bulk_part {
    uint64_t shared, global;
    uint32_t bytes, skip, moved;
    uint32_t nan_bytes; /* 0: zeros */
    ptx_type type;      /* of its elements, where they are added to what is there */
} sim_bulk_part;

/* Begins it for a lane's SIM_BULK_LOAD, to all blocks that it names, or SIM_BULK_STORE. */
bool sim_bulk_part_in(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_bulk_part *part);
bool sim_bulk_part_out(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                       const sim_bulk_part *part);

bool sim_bulk_group(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
