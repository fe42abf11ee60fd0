#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/memory.h"
#include "device/device.h"
#include "sim/device.h"
#include "sim/fill.h"

static const uint64_t alignment = 512; /* cuMemAlloc aligns to at least 256 bytes */

/* The addresses of buffers: any will do below the windows of sim/program/program.h. Two buffers are
 * further apart than an index of 32 bits reaches, so that no stray access ends in another buffer,
 * as long as there is room. Thousands of buffers lie closer together. */
static const uint64_t first_base = 0x010000000000ull;
static const uint64_t distances[] = {UINT64_C(1) << 36, UINT64_C(1) << 33};

/* The lowest place with room for the buffer at that distance from others; *before is the link that
 * it goes to. False: none. */
static bool find_place(device *d, uint64_t size_bytes, uint64_t distance, device_buffer ***before,
                       uint64_t *place)
{
    *place = first_base;
    for (*before = &d->buffers; **before; *before = &(**before)->next) {
        const device_buffer *next = **before;
        if (next->place >= *place + distance && size_bytes <= next->place - *place - distance)
            return true;
        *place =
            (next->place + next->size_bytes + distance + alignment - 1) / alignment * alignment;
    }
    return *place < SIM_HEAP_BASE - distance && size_bytes < SIM_HEAP_BASE - distance - *place;
}

static size_t mapped(uint64_t size_bytes)
{
    return size_bytes ? (size_t)size_bytes : 1;
}

uint8_t *sim_map(uint64_t size_bytes)
{
    void *bytes = mmap(NULL, mapped(size_bytes), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* NULL is fine. */
static void sim_unmap(uint8_t *bytes, uint64_t size_bytes)
{
    if (bytes)
        munmap(bytes, mapped(size_bytes));
}

void sim_map_clear(uint8_t *bytes, uint64_t size_bytes)
{
    /* Private pages of no file are zeros when they are touched again. */
    if (bytes && madvise(bytes, mapped(size_bytes), MADV_DONTNEED) != 0)
        memset(bytes, 0, (size_t)size_bytes);
}

void sim_buffer_make_all(const device_buffer *b)
{
    for (uint64_t i = 0; b->made && i < sim_buffer_chunks(b); i++)
        sim_region_make(&(sim_region){.made = b->made, .make = b->make, .context = b->context},
                        i * SIM_CHUNK_BYTES, 1);
}

at_status sim_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                         at_error *error)
{
    *out = NULL;
    device_buffer *b = memory_new(1, sizeof *b);
    *b = (device_buffer){
        .size_bytes = size_bytes, .bytes = sim_map(size_bytes), .valid = sim_map(size_bytes)};
    strncpy(b->name, name, sizeof b->name - 1);
    if (!b->bytes || !b->valid) {
        sim_buffer_free(d, b);
        return error_set(error, AT_DEVICE, "%s needs %.1f MiB, more than this machine has", name,
                         (double)size_bytes / 1048576.0);
    }
    device_buffer **before;
    if (!find_place(d, size_bytes, distances[0], &before, &b->place) &&
        !find_place(d, size_bytes, distances[1], &before, &b->place)) {
        sim_buffer_free(d, b);
        return error_set(error, AT_DEVICE, "there is no room for buffer %s: too many are open",
                         name);
    }
    b->base = b->place;
    b->next = *before;
    *before = b;
    *out = b;
    return AT_OK;
}

void sim_buffer_forget_valid(device_buffer *b)
{
    sim_unmap(b->valid, b->size_bytes);
    b->valid = NULL;
}

void sim_buffer_free(device *d, device_buffer *b)
{
    if (!b)
        return;
    for (device_buffer **at = &d->buffers; *at; at = &(*at)->next) {
        if (*at == b) {
            *at = b->next;
            break;
        }
    }
    sim_unmap(b->bytes, b->size_bytes);
    sim_unmap(b->made, sim_buffer_chunks(b));
    sim_buffer_forget_valid(b);
    free(b);
}

at_status sim_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                          at_error *error)
{
    (void)d;
    size_t bytes = dtype_get(plan->type)->size_bytes;
    if (plan->count > b->size_bytes / bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    sim_fill(b->bytes, plan, seed);
    b->read_only = plan->role == BUFFER_INPUT;
    sim_buffer_forget_valid(b);
    return AT_OK;
}

at_status sim_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                           const void *contents, at_error *error)
{
    const uint64_t size = plan_buffer_bytes(plan);
    (void)d;
    if (size > b->size_bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    memcpy(b->bytes, contents, size);
    b->read_only = plan->role == BUFFER_INPUT;
    sim_buffer_forget_valid(b);
    return AT_OK;
}

at_status sim_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                          at_error *error)
{
    (void)d;
    (void)error;
    memcpy(to, b->bytes, size_bytes);
    return AT_OK;
}

at_status sim_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error)
{
    (void)d;
    if (b->valid)
        memset(b->valid, 0, b->size_bytes);
    else
        b->valid = sim_map(b->size_bytes);
    if (!b->valid)
        return error_set(error, AT_NO_MEMORY, "no memory to watch %s", b->name);
    /* Pattern 2 is zeros, as on a GPU (cuda/buffer.c): what stays of it is compared with that. */
    memset(b->bytes, pattern == 0 ? 0xa5 : pattern == 2 ? 0 : 0x6b, b->size_bytes);
    b->read_only = false;
    return AT_OK;
}

at_status sim_buffer_copy(device *d, device_buffer *to, const device_buffer *from, at_error *error)
{
    (void)d;
    if (to->size_bytes != from->size_bytes)
        return error_set(error, AT_INTERNAL, "a copy between buffers of different sizes");
    memcpy(to->bytes, from->bytes, to->size_bytes);
    if (from->valid && to->valid)
        memcpy(to->valid, from->valid, to->size_bytes);
    else if (!from->valid)
        sim_buffer_forget_valid(to);
    return AT_OK;
}

at_status sim_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                              at_error *error)
{
    (void)d;
    (void)error;
    *sum = XXH3_64bits(b->bytes, size_bytes);
    return AT_OK;
}

/* Nothing can write outside a simulated buffer: it faults. */
at_status sim_buffer_guards(device *d, const device_buffer *b, device_guard_report *out,
                            at_error *error)
{
    (void)d;
    (void)b;
    (void)error;
    *out = (device_guard_report){.intact = true};
    return AT_OK;
}

static void note_wrong(device_comparison *out, uint64_t i)
{
    if (out->wrong++ == 0)
        out->first = i;
}

static void compare_exact(const device_buffer *found, const device_buffer *expected, uint64_t count,
                          size_t bytes, device_comparison *out)
{
    if (memcmp(found->bytes, expected->bytes, count * bytes) == 0)
        return;
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(found->bytes + i * bytes, expected->bytes + i * bytes, bytes) != 0)
            note_wrong(out, i);
}

static void compare_close(const device_buffer *found, const device_buffer *expected,
                          const buffer_plan *plan, device_comparison *out)
{
    size_t bytes = dtype_get(plan->type)->size_bytes;
    double magnitude = element_magnitude(plan->type, expected->bytes, plan->count);
    for (uint64_t i = 0; i < plan->count; i++)
        if (!tolerance_accepts(plan->tolerance, magnitude, plan->type, found->bytes + i * bytes,
                               expected->bytes + i * bytes))
            note_wrong(out, i);
}

at_status sim_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, device_comparison *out, at_error *error)
{
    (void)d;
    size_t bytes = dtype_get(plan->type)->size_bytes;
    *out = (device_comparison){0};
    if (plan->count > found->size_bytes / bytes || plan->count > expected->size_bytes / bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    if (plan->record)
        return multiset_compare(plan, found->bytes, expected->bytes, out, error);
    if (plan->tolerance.kind == TOLERANCE_EXACT)
        compare_exact(found, expected, plan->count, bytes, out);
    else
        compare_close(found, expected, plan, out);
    if (out->wrong > 0) {
        memcpy(&out->expected, expected->bytes + out->first * bytes, bytes);
        memcpy(&out->found, found->bytes + out->first * bytes, bytes);
        out->unwritten =
            found->valid && memchr(found->valid + out->first * bytes, 0, bytes) != NULL;
    }
    return AT_OK;
}
