/* Race checks of accesses to the shared memory of a cluster's blocks (shared.c) and to global
 * memory (global.c). shared.c also finds reads of uninitialised bytes. race.h has the rules. */
#ifndef AUTOTUNE_SIM_MACHINE_WATCH_H
#define AUTOTUNE_SIM_MACHINE_WATCH_H

#include "sim/machine/machine.h"

/* Checks and records a lane's access to `bytes` of the shared memory of `a->owner`, a block of its
 * cluster. `fresh` has the bytes that the lane writes, since writes of one value do not race.
 * Returns false, with a fault, if there is a race or a read of uninitialised bytes. */
bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);

/* Like sim_shared_touch(), for a whole warp whose lanes access `bytes` each, side by side from
 * `offset` on. Checks line by line (sim_line). Returns the checked lanes; the caller checks the
 * other lanes one by one. Sets *fine to false if there is a fault. */
uint32_t sim_shared_touch_row(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine);

/* Like sim_shared_touch(), for lanes that all read one word. Returns false if it did not check. */
bool sim_shared_read_word(sim_race_access *a, uint32_t mask, uint32_t offset, uint32_t bytes);

/* Begins a copy that reads or writes shared memory of `owner`. sim_shared_land() ends the copy.
 * Returns false, with a fault, if there is a race. */
bool sim_shared_begin(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane, uint32_t offset, uint32_t bytes, sim_touch touch, uint32_t number,
                      bool bulk);
/* Begins a cp.async, which has read its data already. Returns false, with a fault, at a race. */
bool sim_shared_begin_async(sim_block *b, sim_warp *w, const sim_copy *copy);
/* Ends a copy, which becomes the access `landed`, by the thread or by the copy engine. */
void sim_shared_land(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset, uint32_t bytes, bool writes, uint32_t number,
                     const sim_stamp *landed);

/* Prepares the shared memory of a block that starts. No byte counts as written. */
void sim_shared_reset(sim_block *b);

/* Finds the block that owns a shared address. Changes *address to an address in that block. If
 * `visits` is true, the thread itself accesses the memory, so the owner must not end before it
 * knows that the access is over. Returns NULL, with a fault, if the access is not allowed. */
sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             uint64_t *address, bool visits);

/* Finds `bytes` at a shared or generic address in the block of the cluster that owns them. `what`
 * names the access in messages. `visits` is as above, and false for the copy engine. Returns false,
 * with a fault, if the access is not allowed. */
bool sim_shared_find(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                     bool visits, sim_block **owner, uint32_t *offset);

/* Like sim_shared_find(), for accesses that may only use the block's own shared memory. */
bool sim_shared_find_own(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                         uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                         uint32_t *offset);

/* Returns whether the block may end. If other blocks may access its memory, records a fault. */
bool sim_cluster_allows_end(sim_block *b);

/* Makes the watch over a launch's global memory. `concurrent`: several host threads run the blocks.
 * Fails with AT_NO_MEMORY. */
at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out,
                        at_error *error);
void sim_watch_free(sim_watch *watch); /* `watch` may be NULL */

/* Like the functions above, for a region of global memory. values.h checks uninitialised bytes. */
bool sim_global_touch(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);
uint32_t sim_global_touch_row(sim_race_access *a, uint64_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine);
bool sim_global_begin(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      const sim_region *region, uint64_t offset, uint32_t bytes, sim_touch touch,
                      uint32_t number, bool bulk);
void sim_global_land(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                     const sim_region *region, uint64_t offset, uint32_t bytes, bool writes,
                     uint32_t number, const sim_stamp *landed);

#endif
