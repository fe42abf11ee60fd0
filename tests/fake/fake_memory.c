#include "fake_state.h"

#include <stdlib.h>
#include <string.h>

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = (size_t)fake_setting("FAKE_CUDA_MEMORY", 1L << 30);
    *free_bytes = *total_bytes - fake.allocated_bytes;
    return fake_enter();
}

CUresult cuMemAlloc(CUdeviceptr *out, size_t size_bytes)
{
    size_t total = (size_t)fake_setting("FAKE_CUDA_MEMORY", 1L << 30);
    CUresult result = fake_enter();
    if (result)
        return result;
    if (size_bytes == 0 || fake.allocations == MAX_ALLOCATIONS)
        return CUDA_ERROR_INVALID_VALUE;
    if (size_bytes > total - fake.allocated_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fake_wait_us(1000 * fake_setting("FAKE_CUDA_ALLOCATION_MS", 0));
    unsigned char *memory = aligned_alloc(256, (size_bytes + 255) / 256 * 256);
    if (!memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    /* A GPU does not clear new memory either, so the fake fills it with a pattern. */
    memset(memory, 0xcd, size_bytes);
    fake_changed();
    fake.starts[fake.allocations] = memory;
    fake.sizes[fake.allocations++] = size_bytes;
    fake.allocated_bytes += size_bytes;
    *out = (CUdeviceptr)(uintptr_t)memory;
    return CUDA_SUCCESS;
}

/* Returns the index of the allocation that contains the range, or SIZE_MAX. */
static size_t find_range(CUdeviceptr start, size_t size_bytes)
{
    for (size_t i = 0; i < fake.allocations; i++) {
        uintptr_t first = (uintptr_t)fake.starts[i];
        if (start >= first && start - first <= fake.sizes[i] &&
            size_bytes <= fake.sizes[i] - (start - first))
            return i;
    }
    return SIZE_MAX;
}

CUresult cuMemFree(CUdeviceptr memory)
{
    size_t i = find_range(memory, 0);
    if (i == SIZE_MAX || (uintptr_t)fake.starts[i] != memory)
        return CUDA_ERROR_INVALID_VALUE;
    free((void *)(uintptr_t)fake.starts[i]);
    fake.allocated_bytes -= fake.sizes[i];
    fake.allocations--;
    fake.starts[i] = fake.starts[fake.allocations];
    fake.sizes[i] = fake.sizes[fake.allocations];
    return fake_enter();
}

bool fake_find_allocation(CUdeviceptr address, CUdeviceptr *start, size_t *size_bytes)
{
    const size_t i = find_range(address, 1);
    if (i == SIZE_MAX)
        return false;
    *start = (CUdeviceptr)(uintptr_t)fake.starts[i];
    *size_bytes = fake.sizes[i];
    return true;
}

/* Does nothing: programs of `capture` use only the first stream, whose work ends at once. */
CUresult cuCtxSynchronize(void)
{
    return fake.capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : fake_enter();
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t size_bytes)
{
    if (fake_enter() ||
        (find_range(from, size_bytes) == SIZE_MAX && !fake_is_variable(from, size_bytes)))
        return fake_enter() ? fake_enter() : CUDA_ERROR_INVALID_VALUE;
    memcpy(to, (const void *)(uintptr_t)from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t size_bytes)
{
    if (fake_enter() || find_range(to, size_bytes) == SIZE_MAX)
        return fake_enter() ? fake_enter() : CUDA_ERROR_INVALID_VALUE;
    fake_changed();
    memcpy((void *)(uintptr_t)to, from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t size_bytes, CUstream stream)
{
    CUresult result = fake_enter();
    if (result || !stream || fake.capturing || find_range(from, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.now_ns =
        fake_copy(stream, to, (const void *)(uintptr_t)from, size_bytes, false, fake.now_ns);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t size_bytes, CUstream stream)
{
    CUresult result = fake_enter();
    if (result || !stream || fake.capturing || find_range(to, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake.now_ns = fake_copy(stream, (void *)(uintptr_t)to, from, size_bytes, true, fake.now_ns);
    return CUDA_SUCCESS;
}

/* The copy takes 1 ns for 100 bytes read and written. A warm-up repeats a copy thousands of times,
 * so repeated copies move no data. */
void fake_copy_within(CUdeviceptr to, CUdeviceptr from, size_t size_bytes)
{
    if (to != fake.copied_to || from != fake.copied_from || size_bytes != fake.copied_bytes)
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size_bytes);
    fake.copied_to = to;
    fake.copied_from = from;
    fake.copied_bytes = size_bytes;
    fake.now_ns += LAUNCH_NS + size_bytes / 50;
}

static bool is_memory(CUdeviceptr start, size_t size_bytes)
{
    return find_range(start, size_bytes) != SIZE_MAX || fake_is_variable(start, size_bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes, CUstream stream)
{
    CUresult result = fake_enter();
    if (result || !stream || !is_memory(from, size_bytes) || !is_memory(to, size_bytes))
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    if (fake.capturing)
        return fake_capture((fake_node){.to = to, .from = from, .size_bytes = size_bytes});
    fake_copy_within(to, from, size_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size_bytes, CUstream stream)
{
    CUresult result = fake_enter();
    if (result || !stream || fake.capturing || find_range(to, size_bytes) == SIZE_MAX)
        return result ? result : CUDA_ERROR_INVALID_VALUE;
    fake_changed();
    memset((void *)(uintptr_t)to, value, size_bytes);
    return CUDA_SUCCESS;
}
