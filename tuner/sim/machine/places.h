/* The bytes on the host that the lanes of one access read or write.
 *
 * An access to memory has these steps: compute each lane's address, find its bytes in an array that
 * the lane may access, count the requests of a GPU, and show the access to the race detector. */
#ifndef AUTOTUNE_SIM_MACHINE_PLACES_H
#define AUTOTUNE_SIM_MACHINE_PLACES_H

#include "sim/machine/machine.h"

typedef struct sim_places {
    ptx_space space;
    sim_block *owner;            /* block whose shared memory is accessed */
    uint64_t address[SIM_LANES]; /* in that space */
    uint8_t *at[SIM_LANES];
    uint8_t *valid[SIM_LANES]; /* map of written bytes; NULL: not tracked, or all written */
    const sim_region *region[SIM_LANES]; /* global memory: the region of each lane, */
    const sim_region *only;              /* and of all lanes; NULL if that is not known */
} sim_places;

/* Computes the lanes' addresses: the register at `slot`, of `width` bytes a lane, plus `offset`. */
void sim_places_address(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
                        uint64_t *address);

/* Computes the address of one lane. */
static inline uint64_t sim_lane_address(const sim_warp *w, int32_t slot, uint32_t width,
                                        int64_t offset, int lane)
{
    return sim_lane(w, slot, width, lane) + (uint64_t)offset;
}

/* Checks that the addresses of the lanes of `mask` are multiples of `bytes`, a power of two.
 * Returns false, with a fault, if an address is not. */
bool sim_places_check_alignment(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                                const uint64_t *address, uint32_t bytes);

/* Finds `bytes` at p->address of each lane of `mask` in p->space (shared memory: of p->owner), and
 * checks their alignment. Returns false, with a fault, if a lane may not access them. */
bool sim_places_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                     uint32_t bytes, bool is_write, sim_places *p);

/* Does the same for global memory, at any alignment. */
bool sim_places_find_global(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                            uint32_t bytes, bool is_write, sim_places *p);

/* Finds the region and the offset of a lane's bytes in global memory, for the end of a copy. */
static inline void sim_places_region(const sim_places *p, int lane, const sim_region **region,
                                     uint64_t *offset)
{
    *region = p->region[lane];
    *offset = p->address[lane] - p->region[lane]->base;
}

/* Counts an access of `bytes` a lane as one request (counters.h), and shows the sectors of global
 * memory to the launch's observer. */
void sim_count_request(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                       const uint64_t *address, uint32_t bytes);

/* Counts the requests that ptxas makes of one access (sim/decode/reshape.h). */
void sim_count_requests(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                        const uint64_t *address, uint32_t bytes);

/* Shows an access of a lane to `bytes` of shared or global memory to the race detector (watch.h).
 * `fresh` are the bytes written, or NULL. Returns false, with a fault, if there is a race. */
bool sim_touch_lane(sim_race_access *a, int lane, const sim_places *p, uint32_t bytes,
                    sim_touch kind, const uint8_t *fresh);

/* Checks the lanes of `mask` that can be checked together. Returns the other lanes. Sets *fine to
 * false, with a fault, if there is a race. */
uint32_t sim_touch_together(sim_race_access *a, uint32_t mask, const sim_places *p, uint32_t bytes,
                            sim_touch kind, const uint8_t *fresh, bool *fine);

/* Loads 1, 2, 4 or 8 bytes, by a relaxed atomic of the host: host threads that run other blocks may
 * access the same bytes. */
static inline uint64_t sim_load_bytes(const uint8_t *at, uint32_t bytes)
{
    switch (bytes) {
    case 1:
        return __atomic_load_n(at, __ATOMIC_RELAXED);
    case 2:
        return __atomic_load_n((const uint16_t *)(const void *)at, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED);
    }
}

/* Stores the low 1, 2, 4 or 8 bytes of `v`, by a relaxed atomic of the host. */
static inline void sim_store_bytes(uint8_t *at, uint32_t bytes, uint64_t v)
{
    switch (bytes) {
    case 1:
        __atomic_store_n(at, (uint8_t)v, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)(void *)at, (uint16_t)v, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)(void *)at, (uint32_t)v, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)(void *)at, v, __ATOMIC_RELAXED);
        break;
    }
}

#endif
