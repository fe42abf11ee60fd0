/* Transfers: the data that a pattern moves between the host's memory and the device's, and how.
 * Plain data.
 *
 * A task is the same for all variants of a problem: the contents of one buffer become those of
 * another, and one of the two, or both, are in the host's memory. A transfer is how a variant does
 * it. Both are packed for messages and keys, and what is read is checked. */
#ifndef AUTOTUNE_DEVICE_TRANSFER_H
#define AUTOTUNE_DEVICE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"

enum { TRANSFER_MAX_STREAMS = 16 };
/* More bytes than any host has; products of two of them do not occur. */
#define TRANSFER_MAX_BYTES (UINT64_C(1) << 48)

typedef enum transfer_direction {
    TRANSFER_NONE,      /* the pattern moves nothing: its kernels work on the device's memory */
    TRANSFER_TO_DEVICE, /* `from` is on the host */
    TRANSFER_TO_HOST,   /* `to` is on the host */
    TRANSFER_BOTH,      /* both are: there and back */
    TRANSFER_DIRECTIONS
} transfer_direction;

typedef enum host_memory {
    HOST_PAGEABLE,       /* from malloc, its pages touched */
    HOST_PINNED,         /* page-locked by the driver */
    HOST_WRITE_COMBINED, /* the same, not cached by the host: slow for the host to read */
    HOST_MAPPED, /* page-locked and in the device's address space: kernels read and write it */
    HOST_MEMORIES
} host_memory;

/* Does the host copy each chunk through a staging buffer, and in which kind of memory is that? */
typedef enum host_staging {
    STAGING_NONE,
    STAGING_PINNED,
    STAGING_WRITE_COMBINED,
    STAGING_COUNT
} host_staging;

typedef struct transfer_task {
    transfer_direction direction;
    uint32_t from, to; /* buffers of the problem, of one size */
    uint64_t pieces; /* of equal size, into which the data is divided on the host; 1: contiguous */
    uint64_t
        pitch_bytes; /* from the start of a piece to the next on the host; a piece's size or more */
} transfer_task;

typedef struct transfer_plan {
    transfer_task task;
    host_memory memory;
    host_staging staging;
    uint64_t chunk_bytes; /* copied, and worked on, at once; 0: everything */
    uint32_t streams;     /* chunks go to them in turn; 1 or more */
    /* Measures the link itself: both directions at once, neither waiting for the other, no input
     * overwritten. Not packed. */
    bool is_ceiling;
} transfer_plan;

/* Is this end of the task on the host? */
bool transfer_from_host(const transfer_task *task);
bool transfer_to_host(const transfer_task *task);

/* Words for the values, as scripts spell them, in the order of the enumerations (directions from
 * TRANSFER_TO_DEVICE on); *count gets how many. */
const char *const *transfer_direction_names(size_t *count);
const char *const *host_memory_names(size_t *count);
const char *const *host_staging_names(size_t *count);

void transfer_put_task(pack *m, const transfer_task *task);
void transfer_put_plan(pack *m, const transfer_plan *plan);

/* Read and check what transfer_put_*() wrote; buffers must be below `buffer_count`. False: not
 * valid. */
bool transfer_get_task(pack *m, transfer_direction direction, uint32_t buffer_count,
                       transfer_task *out);
bool transfer_get_plan(pack *m, uint32_t buffer_count, transfer_plan *out);

#endif
