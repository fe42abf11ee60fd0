/* Global memory of a simulated device: named regions at addresses of their own.
 *
 * A region borrows its bytes, and a map with one byte for each of them that says whether it was
 * written (NULL: all were). There is always unused address space between two regions, so that an
 * access beside a buffer is detected.
 *
 * A region may be larger than this machine's memory: its contents are then made chunk by chunk,
 * when something touches them for the first time. */
#ifndef AUTOTUNE_SIM_MACHINE_MEMORY_H
#define AUTOTUNE_SIM_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SIM_CHUNK_BYTES = 512 };

/* The size of a text that names a place in memory. */
enum { SIM_PLACE_BYTES = 320 };

/* Values of sim_region.valid, beside 0 for what was not written. The others occur only where not
 * all blocks of a launch run: UPDATED by an atomic, of whose value the others' parts are missing;
 * LAST and above by the last launch of a plan. */
enum { SIM_BYTE_WRITTEN = 1, SIM_BYTE_UPDATED, SIM_BYTE_LAST };

/* Values of sim_region.made. */
enum { SIM_CHUNK_ABSENT, SIM_CHUNK_BEGUN, SIM_CHUNK_MADE };

/* Makes the contents of the chunk with that number. Called by any host thread, once for each
 * chunk. */
typedef void (*sim_make)(void *context, uint64_t chunk);

typedef struct sim_region {
    char name[64];
    uint64_t base, size_bytes;
    uint8_t *bytes;
    uint8_t *valid;      /* NULL: all of it is written */
    const uint8_t *held; /* of each byte: may it be accessed now? NULL: all may */
    bool read_only;      /* a kernel must not write here */
    bool filled; /* what `valid` does not say to be written holds what the buffer was filled with */
    uint8_t *made; /* of each chunk; NULL: all are there */
    sim_make make;
    void *context; /* of `make` */
    const struct buffer_plan
        *plan; /* whose elements it holds, for messages; NULL: they are not known */
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

/* The region that holds `address`, or lies nearest; NULL if all are far away. */
const sim_region *sim_memory_nearest(const sim_memory *m, uint64_t address);

/* Makes what is absent of the chunks that `bytes` at `offset`, inside the region, lie in. */
void sim_region_make(const sim_region *r, uint64_t offset, uint64_t bytes);

/* Names a place in a region, perhaps after its end: "dst[12][5] (byte 788 of dst)". */
void sim_region_name(const sim_region *r, uint64_t offset, char *text, size_t size_bytes);

/* Writes in words where an address is: "src[1024], 0 bytes after the end of src (4096 bytes)". */
void sim_memory_describe(const sim_memory *m, uint64_t address, char *text, size_t size_bytes);

#endif
