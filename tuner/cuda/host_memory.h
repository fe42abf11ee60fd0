/* Blocks of the host's memory for transfers: pageable, pinned, write-combined, mapped.
 *
 * Blocks are kept and reused by every variant that needs a block of their kind, because pinning
 * takes longer than most transfers. One transfer runs at a time; contents do not outlive it. All
 * blocks together take at most half of the host's memory; the least recently used is freed first.
 * On a host with several NUMA nodes memory is where the worker's thread first touched it. */
#ifndef AUTOTUNE_CUDA_HOST_MEMORY_H
#define AUTOTUNE_CUDA_HOST_MEMORY_H

#include "cuda/driver.h"
#include "device/transfer.h"

enum { HOST_BLOCKS = 32 };

/* The use of a block; two of one use are never needed at once. */
typedef enum host_use { HOST_FROM, HOST_TO, HOST_STAGE_UP, HOST_STAGE_DOWN } host_use;

typedef struct host_block {
    host_use use;
    host_memory memory;
    uint64_t size_bytes;
    unsigned char *bytes;
    CUdeviceptr mapped; /* its address for kernels; 0: not HOST_MAPPED */
    uint64_t last_used; /* number of the transfer that used it last */
} host_block;

/* Zeroed before its first use. */
typedef struct host_blocks {
    host_block items[HOST_BLOCKS];
    size_t count;
    uint64_t transfer; /* number of the current one */
} host_blocks;

/* A transfer begins: blocks of earlier transfers may be freed from now on. */
void host_blocks_begin(host_blocks *pool);

/* Finds or makes a block. The pool owns it and keeps it in place until the next transfer begins. A
 * staging buffer may be larger than requested, so that variants with other chunks share it.
 * AT_NO_MEMORY says what was requested and what the host has; the device is fine. AT_DEVICE. */
at_status host_block_get(host_blocks *pool, const cuda_driver *cuda, host_use use,
                         host_memory memory, uint64_t size_bytes, host_block *out, at_error *error);

/* No transfer may be running. */
void host_blocks_free(host_blocks *pool, const cuda_driver *cuda);

#endif
