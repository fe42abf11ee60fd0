/* A block of a launch: its memory and its warps, which have turns. */
#ifndef AUTOTUNE_SIM_MACHINE_BLOCK_H
#define AUTOTUNE_SIM_MACHINE_BLOCK_H

#include "sim/machine/machine.h"

/* Allocates the block of that rank in the clusters of a launch, and sets the registers that are the
 * same in all such blocks. */
at_status sim_block_init(sim_block *b, const sim_launch *launch, sim_cluster *cluster,
                         uint32_t rank, sim_watch *watch, at_error *error);
void sim_block_deinit(sim_block *b);

/* Bytes of a block of the launch, of the host's memory, but for what it may add as it runs. */
uint64_t sim_block_bytes(const sim_launch *launch);

/* Makes it the first instruction of the block at `position` of the grid. */
void sim_block_start(sim_block *b, const uint32_t position[3]);

/* The result of a turn: a fault, progress, warps that only poll, or nothing that could run. */
typedef enum sim_turn { SIM_TURN_FAULT, SIM_TURN_ON, SIM_TURN_POLLING, SIM_TURN_STUCK } sim_turn;

/* Runs each warp that can until it waits or ends, and opens the barriers that were reached. */
sim_turn sim_block_turn(sim_block *b);

#endif
