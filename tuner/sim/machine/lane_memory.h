/* The host memory that the lanes of one access read or write.
 *
 * An access to memory has four steps: compute each lane's address, find the host memory of the
 * lane's bytes, count the requests of a GPU, and show the access to the race detector. */
#ifndef AUTOTUNE_SIM_MACHINE_LANE_MEMORY_H
#define AUTOTUNE_SIM_MACHINE_LANE_MEMORY_H

#include "sim/machine/machine.h"

typedef struct sim_lane_memory {
    ptx_space space;
    sim_block *owner;            /* block whose shared memory is accessed */
    uint64_t address[SIM_LANES]; /* address of each lane in `space` */
    uint8_t *at[SIM_LANES];
    uint8_t *valid[SIM_LANES]; /* whether each byte was written; NULL if all bytes were written, or
                                  nothing is checked */
    const sim_region *region[SIM_LANES]; /* global memory: region of each lane */
    const sim_region *only; /* global memory: region of all lanes; NULL if there may be several */
} sim_lane_memory;

/* Computes each lane's address: the register at `slot`, of `width` bytes a lane, plus `offset`. */
void sim_lane_addresses(const sim_warp *w, int32_t slot, uint32_t width, int64_t offset,
                        uint64_t *address);

static inline uint64_t sim_lane_address(const sim_warp *w, int32_t slot, uint32_t width,
                                        int64_t offset, int lane)
{
    return sim_lane(w, slot, width, lane) + (uint64_t)offset;
}

/* Checks that the addresses of the lanes of `mask` are multiples of `bytes`, a power of two.
 * Returns false, with a fault, if an address is not. */
bool sim_check_alignment(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                         const uint64_t *address, uint32_t bytes);

/* Finds `bytes` at p->address of each lane of `mask` in p->space (shared memory: in p->owner), and
 * checks the alignment. Returns false, with a fault, if a lane may not access its bytes. */
bool sim_lane_memory_find(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                          uint32_t bytes, bool is_write, sim_lane_memory *p);

/* Finds bytes in global memory as sim_lane_memory_find() does, but does not check the alignment. */
bool sim_lane_memory_find_global(sim_block *b, sim_warp *w, const sim_instruction *c, uint32_t mask,
                                 uint32_t bytes, bool is_write, sim_lane_memory *p);

/* Returns the region and the offset of the bytes that a lane accesses in global memory. */
static inline void sim_lane_memory_region(const sim_lane_memory *p, int lane,
                                          const sim_region **region, uint64_t *offset)
{
    *region = p->region[lane];
    *offset = p->address[lane] - p->region[lane]->base;
}

/* Counts an access of `bytes` a lane as one request (counters.h), and shows the sectors of global
 * memory to the launch's observer. */
void sim_count_request(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                       const uint64_t *address, uint32_t bytes);

/* Counts the requests that the machine code makes for one access (sim/decode/reshape.h). */
void sim_count_requests(sim_block *b, const sim_instruction *c, uint32_t mask, ptx_space space,
                        const uint64_t *address, uint32_t bytes);

/* Shows a lane's access to `bytes` of shared or global memory to the race detector (watch.h).
 * `fresh` has the written bytes, or is NULL. Returns false, with a fault, if there is a race. */
bool sim_touch_lane(sim_race_access *a, int lane, const sim_lane_memory *p, uint32_t bytes,
                    sim_touch kind, const uint8_t *fresh);

/* Shows the accesses of many lanes of `mask` to the race detector at once. Returns the lanes that
 * need sim_touch_lane(). Sets *fine to false, with a fault, if there is a race. */
uint32_t sim_touch_together(sim_race_access *a, uint32_t mask, const sim_lane_memory *p,
                            uint32_t bytes, sim_touch kind, const uint8_t *fresh, bool *fine);

/* Loads 1, 2, 4 or 8 bytes by a relaxed atomic of the host, because host threads that run other
 * blocks may access the same bytes. */
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
