/* Memory of blocks, watched for races: shared memory (shared.c), also of other blocks of a cluster
 * and for reads of uninitialised bytes, and global memory (global.c). race.h has the rules. */
#ifndef AUTOTUNE_SIM_MACHINE_WATCH_H
#define AUTOTUNE_SIM_MACHINE_WATCH_H

#include "sim/machine/machine.h"

/* Checks and records an access of a lane to `bytes` of the shared memory of `a->owner`, which is
 * the lane's block or another of its cluster. `fresh` are the bytes that it writes, since several
 * lanes may write the same value. Returns false, with a fault, if there is a race or a read of
 * uninitialised bytes. */
bool sim_shared_touch(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                      const uint8_t *fresh);

/* Does the same for a whole warp that accesses `bytes` a lane, side by side from `offset` on, line
 * by line (sim_line). Returns the lanes that are done; the others are to be checked one by one.
 * Sets *fine to false, with a fault, as above. */
uint32_t sim_shared_touch_row(sim_race_access *a, uint32_t offset, uint32_t bytes, sim_touch touch,
                              const uint8_t *fresh, bool *fine);

/* Does the same for lanes of `mask` that all read one word. Returns false if the lanes are to be
 * checked one by one. */
bool sim_shared_read_word(sim_race_access *a, uint32_t mask, uint32_t offset, uint32_t bytes);

/* Begins a copy that reads or writes shared memory of `owner`. Returns false, with a fault, if
 * there is a race. The copy is under way until sim_shared_land(). */
bool sim_shared_begin(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                      int lane, uint32_t offset, uint32_t bytes, sim_touch touch, uint32_t number,
                      bool bulk);
/* Does the same for a cp.async, whose data is known already. */
bool sim_shared_begin_async(sim_block *b, sim_warp *w, const sim_copy *copy);
/* Ends that copy: it becomes the access `landed`, by the thread or by the copy engine. */
void sim_shared_land(sim_block *b, sim_block *owner, sim_warp *w, const sim_instruction *c,
                     int lane, uint32_t offset, uint32_t bytes, bool writes, uint32_t number,
                     const sim_stamp *landed);

/* Empties the shared memory of a block that starts. */
void sim_shared_reset(sim_block *b);

/* Finds the block of the cluster that owns a shared address. *address becomes an address of that
 * block's own. `visits`: the thread accesses the memory itself, so that the owner must not end
 * before it knows that the access is over. Returns NULL, with a fault, if the thread may not access
 * that memory. */
sim_block *sim_cluster_owner(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                             uint64_t *address, bool visits);

/* Finds `bytes` of shared memory at a shared or generic address, in whichever block of the cluster
 * owns it. `what` names the access in messages; `visits` as above (false if the copy engine
 * accesses the memory later). Returns false, with a fault. */
bool sim_shared_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane,
                      uint64_t address, uint32_t bytes, uint32_t alignment, const char *what,
                      bool visits, sim_block **owner, uint32_t *offset);

/* Does the same where only the block's own shared memory is allowed. */
bool sim_own_place(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t alignment, const char *what, uint32_t *offset);

/* Tells whether the block may end: false, with a fault, if another block may still access its
 * shared memory. */
bool sim_cluster_allows_end(sim_block *b);

/* Makes the watch over the global memory of a launch. `concurrent`: several host threads run its
 * blocks. Fails with AT_NO_MEMORY. */
at_status sim_watch_new(const sim_launch *launch, bool concurrent, sim_watch **out,
                        at_error *error);
void sim_watch_free(sim_watch *watch); /* NULL is fine */

/* Do for `offset` of a region of global memory what the functions for shared memory do. Memory that
 * nothing wrote is checked elsewhere (values.h). */
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
