/* Accesses of one block of a cluster to another's shared memory. */
#ifndef AUTOTUNE_SIM_MACHINE_PEERS_H
#define AUTOTUNE_SIM_MACHINE_PEERS_H

#include "sim/machine/machine.h"

/* mapa and getctarank: of shared addresses, where another block has the same; and whose they
 * are. */
bool sim_cluster_map(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* Finds the owner of the shared address, which becomes one of that block's own. NULL, with a fault:
 * no block that the thread may access has it. `visits`: the owner must not end before it knows of
 * it. */
sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             uint64_t *address, bool visits);

/* Finds `bytes` of shared memory, of whichever block of the cluster has the address; generic
 * addresses of it are the same place. `what` is the access in words; `visits`: the thread itself
 * goes there, not the engine later. False, with a fault. */
bool sim_shared_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                      bool visits, sim_block **owner, uint32_t *offset);

/* Does the same where only the block's own is possible. */
bool sim_own_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t alignment, const char *what, uint32_t *offset);

/* The block ends: false, with a fault, when another may still access its shared memory. */
bool sim_cluster_allows_end(sim_block *b);

#endif
