/* Bulk copies and mbarriers, as instructions. */
#ifndef AUTOTUNE_SIM_MACHINE_BULK_H
#define AUTOTUNE_SIM_MACHINE_BULK_H

#include "sim/machine/machine.h"

/* Bulk copies and mbarriers. */
bool sim_mbarrier(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_bulk_copy(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_store_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_bulk_group(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Records the fault of a block whose warps all poll mbarriers that nothing will complete. */
void sim_engine_report_stall(sim_block *b);

#endif
