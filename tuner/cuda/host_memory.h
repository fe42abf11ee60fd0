/* Blocks of the host's memory for transfers: pageable, pinned, write-combined, mapped.
 *
 * Blocks are kept and used again by every variant that wants the like: pinning takes longer than most
 * transfers. One transfer runs at a time, and what blocks hold means nothing beyond it. All together they
 * take half of the host's memory at most, and the block used longest ago goes first. On a host with
 * several NUMA nodes memory is where the worker's thread first touched it. */
#ifndef AUTOTUNE_CUDA_HOST_MEMORY_H
#define AUTOTUNE_CUDA_HOST_MEMORY_H

#include "cuda/driver.h"
#include "device/transfer.h"

enum { HOST_BLOCKS = 32 };

/* What a block is for; two of one use are never needed at once. */
typedef enum host_use { HOST_FROM, HOST_TO, HOST_STAGE_UP, HOST_STAGE_DOWN } host_use;

typedef struct host_block {
    host_use use;
    host_memory memory;
    uint64_t size_bytes;
    unsigned char *bytes;
    CUdeviceptr mapped;  /* the same to kernels; 0: not HOST_MAPPED */
    uint64_t last_used;  /* by which transfer */
} host_block;

/* Zeroed before its first use. */
typedef struct host_blocks {
    host_block items[HOST_BLOCKS];
    size_t count;
    uint64_t transfer; /* the present one's number */
} host_blocks;

/* A transfer begins: what was asked for before may go from now on. */
void host_blocks_begin(host_blocks *pool);

/* Finds or makes a block, which stays the pool's, and where it is until the next transfer begins. A
 * staging buffer may be larger than asked for, so that variants with other chunks have the same.
 * AT_NO_MEMORY says what was asked for and what the host would give; the device is fine. AT_DEVICE. */
at_status host_block_get(host_blocks *pool, const cuda_driver *cuda, host_use use, host_memory memory,
                         uint64_t size_bytes, host_block *out, at_error *error);

void host_blocks_free(host_blocks *pool, const cuda_driver *cuda);

#endif
