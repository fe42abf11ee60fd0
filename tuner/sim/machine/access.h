/* Loads, stores and copies of a warp's lanes, and the global side of bulk copies. */
#ifndef AUTOTUNE_SIM_MACHINE_ACCESS_H
#define AUTOTUNE_SIM_MACHINE_ACCESS_H

#include "sim/machine/machine.h"

bool sim_access(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);
bool sim_copy_async(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

/* The global side of a bulk copy by `lane`: checked, and counted in requests of 512 bytes. It is
 * under way from now on; *region and *offset say where. */
bool sim_bulk_read(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
                   uint32_t bytes, uint32_t number, uint8_t *to, const sim_region **region,
                   uint64_t *offset);
bool sim_bulk_write(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, ptx_type type,
                    uint64_t address, uint32_t bytes, uint32_t number, const uint8_t *from,
                    const sim_region **region, uint64_t *offset);

/* Counts reads of texels by the lanes of `mask`. */
void sim_count_texels(sim_block *b, const sim_instruction *c, uint32_t mask,
                      const uint64_t *address, uint32_t bytes);

/* Reads bytes of global memory for a lane by the path that is not coherent; it is not counted. */
bool sim_texel(sim_block *b, sim_warp *w, const sim_instruction *c, int lane, uint64_t address,
               uint32_t bytes, uint8_t *to);

#endif
