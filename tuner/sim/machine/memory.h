/* Global memory of a simulated device: named regions at addresses of their own.
 *
 * A region borrows its bytes, and a map with one byte for each of them that says whether it was written
 * (NULL: all were). There is always unused address space between two regions, so that an access beside a
 * buffer is detected. */
#ifndef AUTOTUNE_SIM_MACHINE_MEMORY_H
#define AUTOTUNE_SIM_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct sim_region {
    char name[64];
    uint64_t base, size_bytes;
    uint8_t *bytes;
    uint8_t *valid;   /* 1: written; NULL: all of it */
    bool read_only;   /* a kernel must not write here */
} sim_region;

typedef struct sim_memory {
    sim_region *regions; /* by base */
    size_t count;
} sim_memory;

void sim_memory_deinit(sim_memory *m); /* frees the list, not the borrowed bytes */

/* Adds a region; its range must not overlap another's. AT_NO_MEMORY. */
at_status sim_memory_add(sim_memory *m, const sim_region *region, at_error *error);

/* The region that holds `address`, else NULL. */
const sim_region *sim_memory_find(const sim_memory *m, uint64_t address);

/* Writes in words where an address is: "4 bytes behind the end of src (4096 bytes)". */
void sim_memory_describe(const sim_memory *m, uint64_t address, char *text, size_t size_bytes);

#endif
