/* Global memory of a simulated device: named regions at their own addresses, and the heap of
 * malloc() and new.
 *
 * A region borrows its bytes, and the map that records for each byte whether it was written. Unused
 * addresses separate regions, so that an access beside a buffer is detected. If a region is larger
 * than this machine's memory, its contents are made chunk by chunk at the first access. */
#ifndef AUTOTUNE_SIM_MACHINE_MEMORY_H
#define AUTOTUNE_SIM_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { SIM_CHUNK_BYTES = 512 };

enum { SIM_ADDRESS_TEXT_BYTES = 320 }; /* most bytes of a text that names an address */

/* Values of sim_region.valid; 0 is an uninitialised byte. */
enum {
    SIM_BYTE_WRITTEN = 1,
    SIM_BYTE_UPDATED, /* by an atomic; in an excerpt, updates of absent blocks are missing */
    SIM_BYTE_LAST /* this value and above: written by the last launch of an excerpt (sim_excerpt) */
};

/* Values of sim_region.made. */
enum { SIM_CHUNK_ABSENT, SIM_CHUNK_BEGUN, SIM_CHUNK_MADE };

/* Makes the contents of a chunk. Called once for each chunk, by any host thread. */
typedef void (*sim_make)(void *context, uint64_t chunk);

typedef struct sim_region {
    char name[64];
    uint64_t base, size_bytes;
    uint8_t *bytes;
    uint8_t *valid;      /* SIM_BYTE_ value of each byte; NULL if all bytes are written */
    const uint8_t *held; /* whether each byte may be accessed now; NULL if all bytes may be */
    bool read_only;      /* kernels must not write here */
    bool filled;   /* bytes that are not written hold the value that the buffer was filled with */
    uint8_t *made; /* SIM_CHUNK_ value of each chunk; NULL if all chunks are made */
    sim_make make;
    void *context;                  /* argument of `make` */
    const struct buffer_plan *plan; /* the buffer's elements, for messages; NULL if they are not
                                       known */
} sim_region;

typedef struct sim_memory {
    sim_region *regions; /* sorted by base */
    size_t count;
} sim_memory;

void sim_memory_deinit(sim_memory *m); /* frees the list, not the borrowed bytes */

/* Adds a region. Its addresses must not overlap other regions. Fails with AT_NO_MEMORY. */
at_status sim_memory_add(sim_memory *m, const sim_region *region, at_error *error);

/* Returns the region that contains `address`, or NULL. */
const sim_region *sim_memory_find(const sim_memory *m, uint64_t address);

/* Returns the region that contains `address` or is nearest to it, or NULL if all are far away. */
const sim_region *sim_memory_nearest(const sim_memory *m, uint64_t address);

/* Makes the chunks that contain `bytes` at `offset` of the region, unless they exist. */
void sim_region_make(const sim_region *r, uint64_t offset, uint64_t bytes);

/* Writes the name of a byte of a region, perhaps after its end: "dst[12][5] (byte 788 of dst)". */
void sim_region_name(const sim_region *r, uint64_t offset, char *text, size_t size_bytes);

/* Describes an address: "src[1024], 0 bytes after the end of src (4096 bytes)". */
void sim_memory_describe(const sim_memory *m, uint64_t address, char *text, size_t size_bytes);

/* The heap of a device (heap.c): a region in which only allocated bytes may be accessed (CUDA C++
 * Programming Guide, "Dynamic Global Memory Allocation"). No byte is allocated twice, so that each
 * use after free() is found. The default heap size of a GPU limits the bytes allocated at a time.
 * Programs that use the heap run on one host thread. */
typedef struct sim_heap sim_heap;

sim_heap *sim_heap_new(void);        /* returns NULL if there is no memory */
void sim_heap_free(sim_heap *heap);  /* `heap` may be NULL */
void sim_heap_reset(sim_heap *heap); /* frees all pieces and marks all bytes as not written */
sim_region sim_heap_region(const sim_heap *heap);

#endif
