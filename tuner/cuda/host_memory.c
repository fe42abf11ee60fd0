#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/queue.h"

/* Alignment of pageable blocks, equal to that of the driver's blocks. */
enum { PAGE_BYTES = 4096 };

/* Returns the limit for all blocks together: half of the host's memory. */
static uint64_t most_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : UINT64_MAX;
}

static void drop(host_blocks *pool, const cuda_driver *cuda, size_t i)
{
    host_block *b = &pool->items[i];
    if (b->memory == HOST_PAGEABLE)
        free(b->bytes);
    else
        cuda->cuMemFreeHost(b->bytes);
    *b = pool->items[--pool->count];
}

/* Frees the least recently used block. Returns false if the current transfer uses all blocks. */
static bool drop_oldest(host_blocks *pool, const cuda_driver *cuda)
{
    size_t oldest = 0;
    for (size_t i = 1; i < pool->count; i++)
        if (pool->items[i].last_used < pool->items[oldest].last_used)
            oldest = i;
    if (pool->count == 0 || pool->items[oldest].last_used == pool->transfer)
        return false;
    drop(pool, cuda, oldest);
    return true;
}

void host_blocks_begin(host_blocks *pool)
{
    pool->transfer++;
}

static uint64_t held_bytes(const host_blocks *pool)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pool->count; i++)
        sum += pool->items[i].size_bytes;
    return sum;
}

static at_status refuse(const host_block *b, const char *why, at_error *error)
{
    size_t count;
    return error_set(error, AT_NO_MEMORY,
                     "cannot allocate %.1f MiB of %s host memory: %s; choose a smaller problem",
                     (double)b->size_bytes / 1048576.0, host_memory_names(&count)[b->memory], why);
}

static at_status try_allocate(const cuda_driver *cuda, host_block *b, at_error *error)
{
    static const unsigned flags[HOST_MEMORIES] = {[HOST_WRITE_COMBINED] =
                                                      CU_MEMHOSTALLOC_WRITECOMBINED,
                                                  [HOST_MAPPED] = CU_MEMHOSTALLOC_DEVICEMAP};
    void *bytes = NULL;
    if (b->memory == HOST_PAGEABLE) {
        b->bytes =
            aligned_alloc(PAGE_BYTES, (b->size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
        return b->bytes ? AT_OK : refuse(b, "malloc failed", error);
    }
    CUresult result = cuda->cuMemHostAlloc(&bytes, (size_t)b->size_bytes, flags[b->memory]);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return refuse(b, "the driver cannot pin so much", error);
    at_status status = cuda_check(cuda, result, AT_DEVICE, "cannot pin host memory", error);
    if (!status && b->memory == HOST_MAPPED)
        status = cuda_check(cuda, cuda->cuMemHostGetDevicePointer(&b->mapped, bytes, 0), AT_DEVICE,
                            "cannot map host memory", error);
    if (status && bytes)
        cuda->cuMemFreeHost(bytes);
    b->bytes = status ? NULL : bytes;
    return status;
}

static host_block *find(host_blocks *pool, const host_block *wanted)
{
    for (size_t i = 0; i < pool->count; i++) {
        host_block *b = &pool->items[i];
        bool staging = b->use == HOST_STAGE_UP || b->use == HOST_STAGE_DOWN;
        bool fits =
            staging ? b->size_bytes >= wanted->size_bytes : b->size_bytes == wanted->size_bytes;
        if (b->use == wanted->use && b->memory == wanted->memory && fits)
            return b;
    }
    return NULL;
}

static at_status allocate(host_blocks *pool, const cuda_driver *cuda, host_block *b,
                          at_error *error)
{
    static const char why[] = "that is more than half of what the host has";
    uint64_t most = most_bytes();
    if (b->size_bytes > most)
        return refuse(b, why, error);
    while (pool->count == HOST_BLOCKS || held_bytes(pool) > most - b->size_bytes)
        if (!drop_oldest(pool, cuda))
            return refuse(b, why, error);
    at_status status = try_allocate(cuda, b, error);
    while (status == AT_NO_MEMORY && drop_oldest(pool, cuda)) {
        error_clear(error);
        status = try_allocate(cuda, b, error);
    }
    return status;
}

at_status host_block_get(host_blocks *pool, const cuda_driver *cuda, host_use use,
                         host_memory memory, uint64_t size_bytes, host_block *out, at_error *error)
{
    host_block made = {.use = use, .memory = memory, .size_bytes = size_bytes};
    host_block *found = find(pool, &made);
    if (!found) {
        at_status status = allocate(pool, cuda, &made, error);
        if (status)
            return status;
        /* Makes the kernel map every page now, not during the first transfer. */
        memset(made.bytes, 0, (size_t)size_bytes);
        found = &pool->items[pool->count++];
        *found = made;
    }
    found->last_used = pool->transfer;
    *out = *found;
    return AT_OK;
}

void host_blocks_free(host_blocks *pool, const cuda_driver *cuda)
{
    while (pool->count > 0)
        drop(pool, cuda, pool->count - 1);
}
