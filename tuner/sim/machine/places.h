/* The places on the host where the lanes of one access find their bytes.
 *
 * In: an address of each lane, in a space. Out: these places, of which each is within an array that
 * the lane may reach so; false, with a fault, where one is not. */
#ifndef AUTOTUNE_SIM_MACHINE_PLACES_H
#define AUTOTUNE_SIM_MACHINE_PLACES_H

#include "sim/machine/machine.h"

typedef struct sim_places {
    sim_block *owner;            /* of shared memory */
    uint64_t address[SIM_LANES]; /* in the space */
    uint8_t *at[SIM_LANES];
    uint8_t *valid[SIM_LANES];           /* NULL: not tracked, or all written */
    const sim_region *region[SIM_LANES]; /* of global memory, */
    const sim_region *only;              /* and that of all lanes; NULL: not known */
} sim_places;

/* Computes the addresses of all lanes from the register at `slot`, of `width` bytes, and `offset`.
 */
void sim_places_address(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
                        uint64_t *address);

/* That of one lane. */
static inline uint64_t sim_lane_address(const sim_warp *w, int32_t slot, uint32_t width,
                                        int64_t offset, int lane)
{
    const uint64_t base = width == 8 ? sim_lanes64(w, slot)[lane] : sim_lanes32(w, slot)[lane];
    return base + (uint64_t)offset;
}

/* Are the addresses of the lanes of `mask` multiples of `bytes`, a power of two? */
bool sim_places_check_alignment(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                                const uint64_t *address, uint32_t bytes);

/* Finds `bytes` at p->address of each lane of `mask`, of shared memory in p->owner's. */
bool sim_places_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     ptx_space space, uint32_t bytes, bool is_write, sim_places *p);

/* Does the same of global memory, at any alignment. */
bool sim_places_find_global(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            uint32_t bytes, bool is_write, sim_places *p);

/* Tells where in global memory a lane's was found, for the end of a copy. */
static inline void sim_places_tell(const sim_places *p, int lane, const sim_region **region,
                                   uint64_t *offset)
{
    *region = p->region[lane];
    *offset = p->address[lane] - p->region[lane]->base;
}

/* Are the addresses of those lanes aligned as the instruction demands? */
bool sim_aligned(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask);

#endif
