/* Bytes of simulated memory, which host threads that run other blocks may read and write meanwhile:
 * plain accesses are relaxed atomics of the host. */
#ifndef AUTOTUNE_SIM_MACHINE_BYTES_H
#define AUTOTUNE_SIM_MACHINE_BYTES_H

#include <stdint.h>

/* Loads 1, 2, 4 or 8 bytes. */
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

/* Stores as many, the low ones of `v`. */
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
