#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/queue.h"

/* Pinned memory of the fake driver: number of blocks, and bytes that can still be pinned. */
static struct {
    size_t blocks, left_bytes;
    unsigned flags; /* flags of the block that was pinned last */
} pinned;

static CUresult CUDAAPI pin(void **out, size_t size_bytes, unsigned flags)
{
    if (size_bytes > pinned.left_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pinned.left_bytes -= size_bytes;
    pinned.blocks++;
    pinned.flags = flags;
    *out = malloc(size_bytes);
    assert_non_null(*out);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI unpin(void *memory)
{
    pinned.blocks--;
    free(memory);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI map(CUdeviceptr *out, void *memory, unsigned flags)
{
    (void)flags;
    *out = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI name_error(CUresult result, const char **text)
{
    (void)result;
    *text = "error";
    return CUDA_SUCCESS;
}

static const cuda_driver driver = {.cuMemHostAlloc = pin,
                                   .cuMemFreeHost = unpin,
                                   .cuMemHostGetDevicePointer = map,
                                   .cuGetErrorName = name_error,
                                   .cuGetErrorString = name_error};

static int reset(void **state)
{
    (void)state;
    memset(&pinned, 0, sizeof pinned);
    pinned.left_bytes = 1 << 20;
    return 0;
}

static host_block get(host_blocks *pool, host_use use, host_memory memory, uint64_t size_bytes)
{
    host_block b;
    at_error error = {0};
    assert_ok(host_block_get(pool, &driver, use, memory, size_bytes, &b, &error), error);
    return b;
}

TEST_IN(a_block_of_the_same_use_kind_and_size_is_used_again, reset, NULL)
{
    host_blocks pool = {0};
    host_blocks_begin(&pool);
    host_block first = get(&pool, HOST_FROM, HOST_PINNED, 4096);
    host_block other = get(&pool, HOST_TO, HOST_PINNED, 4096);
    assert_ptr_not_equal(first.bytes, other.bytes);
    host_blocks_begin(&pool);
    assert_ptr_equal(get(&pool, HOST_FROM, HOST_PINNED, 4096).bytes, first.bytes);
    assert_ptr_not_equal(get(&pool, HOST_FROM, HOST_PINNED, 8192).bytes, first.bytes);
    assert_int_equal(pinned.blocks, 3);
    host_blocks_free(&pool, &driver);
    assert_int_equal(pinned.blocks, 0);
}

TEST_IN(a_staging_buffer_is_used_for_smaller_transfers, reset, NULL)
{
    host_blocks pool = {0};
    host_block large = get(&pool, HOST_STAGE_UP, HOST_PINNED, 8192);
    assert_ptr_equal(get(&pool, HOST_STAGE_UP, HOST_PINNED, 4096).bytes, large.bytes);
    assert_ptr_not_equal(get(&pool, HOST_STAGE_DOWN, HOST_PINNED, 4096).bytes, large.bytes);
    assert_ptr_not_equal(get(&pool, HOST_STAGE_UP, HOST_WRITE_COMBINED, 4096).bytes, large.bytes);
    assert_ptr_not_equal(get(&pool, HOST_STAGE_UP, HOST_PINNED, 8193).bytes, large.bytes);
    host_blocks_free(&pool, &driver);
}

TEST_IN(each_kind_is_allocated_with_its_driver_flags, reset, NULL)
{
    static const struct {
        host_memory memory;
        unsigned flags;
    } kinds[] = {{HOST_PINNED, 0},
                 {HOST_WRITE_COMBINED, CU_MEMHOSTALLOC_WRITECOMBINED},
                 {HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP}};
    host_blocks pool = {0};
    for (size_t i = 0; i < 3; i++) {
        host_block b = get(&pool, HOST_FROM, kinds[i].memory, 4096);
        assert_int_equal(pinned.flags, kinds[i].flags);
        assert_int_equal(b.mapped != 0, kinds[i].memory == HOST_MAPPED);
    }
    host_blocks_free(&pool, &driver);
}

TEST_IN(pageable_memory_is_not_from_the_driver_and_begins_at_a_page, reset, NULL)
{
    host_blocks pool = {0};
    host_block b = get(&pool, HOST_FROM, HOST_PAGEABLE, 10000);
    assert_int_equal((uintptr_t)b.bytes % 4096, 0);
    for (size_t i = 0; i < 10000; i++)
        assert_int_equal(b.bytes[i], 0);
    assert_int_equal(pinned.blocks, 0);
    host_blocks_free(&pool, &driver);
}

TEST_IN(only_memory_of_earlier_transfers_is_freed_to_make_room, reset, NULL)
{
    host_blocks pool = {0};
    at_error error = {0};
    host_block b;
    host_blocks_begin(&pool);
    for (int i = 0; i < HOST_BLOCKS; i++)
        get(&pool, HOST_FROM, HOST_PINNED, 64 * (uint64_t)(i + 1));
    assert_int_equal(host_block_get(&pool, &driver, HOST_TO, HOST_PINNED, 4096, &b, &error),
                     AT_NO_MEMORY);
    host_blocks_begin(&pool);
    get(&pool, HOST_TO, HOST_PINNED, 4096);
    assert_int_equal(pinned.blocks, HOST_BLOCKS);
    host_blocks_free(&pool, &driver);
    assert_int_equal(pinned.blocks, 0);
}

TEST_IN(an_error_of_pinning_names_the_size_and_leaks_nothing, reset, NULL)
{
    host_blocks pool = {0};
    at_error error = {0};
    host_block b;
    assert_int_equal(host_block_get(&pool, &driver, HOST_FROM, HOST_PINNED, 3 << 20, &b, &error),
                     AT_NO_MEMORY);
    assert_non_null(strstr(error.message, "3.0 MiB of pinned host memory"));
    assert_non_null(strstr(error.message, "choose a smaller problem"));
    assert_int_equal(pool.count, 0);
    assert_int_equal(
        host_block_get(&pool, &driver, HOST_FROM, HOST_PAGEABLE, UINT64_C(1) << 47, &b, &error),
        AT_NO_MEMORY);
    assert_non_null(strstr(error.message, "more than half of what the host has"));
    host_blocks_free(&pool, &driver);
}
