#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#include "base/bits.h"
#include "base/memory.h"
#include "sim/device.h"

static const uint64_t alignment = 512; /* cuMemAlloc aligns to at least 256 bytes */

/* Buffers lie below the windows of sim/program/program.h. If there is room, the distance between
 * buffers exceeds the reach of a 32-bit index, so that a stray access hits no other buffer. */
static const uint64_t first_base = 0x010000000000ull;
static const uint64_t distances[] = {UINT64_C(1) << 36, UINT64_C(1) << 33};

/* Finds the lowest address with room at `distance` from other buffers, and the link that will point
 * to the new buffer. Returns false if there is no room. */
static bool find_room(device *d, uint64_t size_bytes, uint64_t distance, device_buffer ***before,
                      uint64_t *place)
{
    *place = first_base;
    for (*before = &d->buffers; **before; *before = &(**before)->next) {
        const device_buffer *next = **before;
        if (next->own_address >= *place + distance &&
            size_bytes <= next->own_address - *place - distance)
            return true;
        *place = (next->own_address + next->region.size_bytes + distance + alignment - 1) /
                 alignment * alignment;
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

static void sim_unmap(uint8_t *bytes, uint64_t size_bytes)
{
    if (bytes)
        munmap(bytes, mapped(size_bytes));
}

void sim_map_clear(uint8_t *bytes, uint64_t size_bytes)
{
    /* Linux maps pages of zeros when these pages are touched again. */
    if (bytes && madvise(bytes, mapped(size_bytes), MADV_DONTNEED) != 0)
        memset(bytes, 0, (size_t)size_bytes);
}

void sim_buffer_make_all(const device_buffer *b)
{
    for (uint64_t i = 0; b->region.made && i < sim_buffer_chunks(b); i++)
        sim_region_make(&b->region, i * SIM_CHUNK_BYTES, 1);
}

at_status sim_buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                         at_error *error)
{
    *out = NULL;
    device_buffer *b = memory_new(1, sizeof *b);
    b->region = (sim_region){
        .size_bytes = size_bytes, .bytes = sim_map(size_bytes), .valid = sim_map(size_bytes)};
    strncpy(b->region.name, name, sizeof b->region.name - 1);
    if (!b->region.bytes || !b->region.valid) {
        sim_buffer_free(d, b);
        return error_set(
            error, AT_DEVICE,
            "%s needs %.1f MiB, more memory than this machine has: choose a smaller problem", name,
            (double)size_bytes / 1048576.0);
    }
    device_buffer **before;
    if (!find_room(d, size_bytes, distances[0], &before, &b->own_address) &&
        !find_room(d, size_bytes, distances[1], &before, &b->own_address)) {
        sim_buffer_free(d, b);
        return error_set(error, AT_DEVICE,
                         "there is no address for buffer %s: too many buffers are open", name);
    }
    b->region.base = b->own_address;
    b->next = *before;
    *before = b;
    *out = b;
    return AT_OK;
}

void sim_buffer_mark_written(device_buffer *b)
{
    sim_unmap(b->region.valid, b->region.size_bytes);
    b->region.valid = NULL;
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
    sim_unmap(b->region.bytes, b->region.size_bytes);
    sim_unmap(b->region.made, sim_buffer_chunks(b));
    sim_buffer_mark_written(b);
    free(b);
}

/* Returns number i of a random sequence: SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static uint64_t convert_integer(uint64_t v, dtype type)
{
    switch (type) {
    case DTYPE_HALF:
        return half_from_float((float)v);
    case DTYPE_BFLOAT16:
        return bfloat_from_float((float)v);
    case DTYPE_FLOAT:
        return bits_of_float((float)v);
    case DTYPE_DOUBLE:
        return bits_of_double((double)v);
    default:
        return v;
    }
}

static uint64_t uniform(uint64_t r, dtype type)
{
    float sign = (int64_t)r < 0 ? -1.0f : 1.0f;
    switch (type) {
    case DTYPE_HALF:
        return half_from_float(sign * (float)(r & 0x7ff) * 0x1p-11f);
    case DTYPE_BFLOAT16:
        return bfloat_from_float(sign * (float)(r & 0xff) * 0x1p-8f);
    case DTYPE_FLOAT:
        return bits_of_float(sign * (float)(r & 0xffffff) * 0x1p-24f);
    case DTYPE_DOUBLE:
        return bits_of_double((double)sign * (double)(r & 0x1fffffffffffff) * 0x1p-53);
    default:
        return r;
    }
}

/* Permutes [0, 2^(2 * half)) by a Feistel network of four rounds. */
static uint64_t shuffle_bits(uint64_t v, unsigned half, uint64_t seed)
{
    uint64_t mask = (UINT64_C(1) << half) - 1, left = v >> half, right = v & mask;
    for (uint64_t round = 0; round < 4; round++) {
        uint64_t next = left ^ (random_bits(seed + round, right) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

/* Permutes [0, count): follows a cycle of shuffle_bits() until the value is below `count`. */
static uint64_t permuted(uint64_t i, uint64_t count, uint64_t seed)
{
    unsigned half = 1;
    while (2 * half < 64 && UINT64_C(1) << 2 * half < count)
        half++;
    do
        i = shuffle_bits(i, half, seed);
    while (i >= count);
    return i;
}

/* Draws an octave (a power of two), then a value in this octave. So small values are frequent. */
static uint64_t skewed(uint64_t r, uint64_t limit)
{
    uint64_t octaves = 64 - (uint64_t)__builtin_clzll(limit);
    uint64_t octave = high_product(r, octaves), low = UINT64_C(1) << octave;
    uint64_t v = low - 1 + (random_bits(r, octave) & (low - 1));
    return v < limit ? v : v % limit;
}

static uint64_t offset_of(const buffer_plan *p, uint64_t i, uint64_t r)
{
    if (i == 0 || i == p->count - 1)
        return i == 0 ? 0 : p->fill_limit;
    return (i * p->fill_limit - high_product(r, p->fill_limit)) / (p->count - 1);
}

static uint64_t local_of(const buffer_plan *p, uint64_t i, uint64_t r)
{
    uint64_t limit = p->fill_limit, block = p->fill_block;
    uint64_t windows = limit / block + (limit % block != 0), start = i / block % windows * block;
    uint64_t width = limit - start < block ? limit - start : block;
    return start + high_product(r, width);
}

static uint64_t element(const buffer_plan *p, uint64_t seed, uint64_t i)
{
    uint64_t r = random_bits(seed, i);
    switch (p->fill) {
    case FILL_UNIFORM:
        return uniform(r, p->type);
    case FILL_BITS:
        return r;
    case FILL_INDEX:
        return convert_integer(i, p->type);
    case FILL_VALUES:
        return dtype_bits(p->type, p->values[i % p->value_count]);
    case FILL_PERMUTATION:
        return convert_integer(permuted(i, p->count, seed), p->type);
    case FILL_SORTED:
        return convert_integer((i * p->fill_limit + high_product(r, p->fill_limit)) / p->count,
                               p->type);
    case FILL_LOCAL:
        return convert_integer(local_of(p, i, r), p->type);
    case FILL_SKEWED:
        return convert_integer(skewed(r, p->fill_limit), p->type);
    case FILL_OFFSETS:
        return convert_integer(offset_of(p, i, r), p->type);
    default:
        return convert_integer(high_product(r, p->fill_limit), p->type);
    }
}

/* Does the same as uniform() for floats, in a loop that the compiler vectorises. */
#if defined __x86_64__ && defined __GLIBC__ && !defined __clang__ &&                               \
    !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
__attribute__((target_clones("arch=x86-64-v4", "default"), optimize("O3")))
#endif
static void
fill_floats(uint8_t *bytes, uint64_t seed, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        const uint64_t r = random_bits(seed, i);
        const float v = (float)(int32_t)(r & 0xffffff) * 0x1p-24f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        bits |= (uint32_t)(r >> 32) & 0x80000000u;
        memcpy(bytes + i * sizeof bits, &bits, sizeof bits);
    }
}

void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed, uint64_t first, uint64_t end)
{
    size_t size = dtype_get(plan->type)->size_bytes;
    /* This fill must be fast: it is frequent, and long loops of sampled blocks need much data. */
    if (plan->fill == FILL_UNIFORM && plan->type == DTYPE_FLOAT) {
        fill_floats(bytes, seed, first, end);
        return;
    }
    for (uint64_t i = first; i < end; i++) {
        uint64_t bits = element(plan, seed, i);
        memcpy(bytes + i * size, &bits, size);
    }
}

at_status sim_buffer_fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                          at_error *error)
{
    (void)d;
    size_t bytes = dtype_get(plan->type)->size_bytes;
    if (plan->count > b->region.size_bytes / bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    sim_fill(b->region.bytes, plan, seed, 0, plan->count);
    b->region.read_only = plan->role == BUFFER_INPUT;
    sim_buffer_mark_written(b);
    return AT_OK;
}

at_status sim_buffer_write(device *d, device_buffer *b, const buffer_plan *plan,
                           const void *contents, at_error *error)
{
    const uint64_t size = plan_buffer_bytes(plan);
    (void)d;
    if (size > b->region.size_bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    memcpy(b->region.bytes, contents, size);
    b->region.read_only = plan->role == BUFFER_INPUT;
    sim_buffer_mark_written(b);
    return AT_OK;
}

at_status sim_buffer_read(device *d, const device_buffer *b, void *to, uint64_t size_bytes,
                          at_error *error)
{
    (void)d;
    (void)error;
    memcpy(to, b->region.bytes, size_bytes);
    return AT_OK;
}

at_status sim_buffer_poison(device *d, device_buffer *b, int pattern, at_error *error)
{
    (void)d;
    if (b->region.valid)
        memset(b->region.valid, 0, b->region.size_bytes);
    else
        b->region.valid = sim_map(b->region.size_bytes);
    if (!b->region.valid)
        return error_set(error, AT_NO_MEMORY, "no memory to watch %s", b->region.name);
    /* Pattern 2 is zeros, as in cuda/buffer.c. */
    memset(b->region.bytes, pattern == 0 ? 0xa5 : pattern == 2 ? 0 : 0x6b, b->region.size_bytes);
    b->region.read_only = false;
    return AT_OK;
}

at_status sim_buffer_copy(device *d, device_buffer *to, const device_buffer *from, at_error *error)
{
    (void)d;
    if (to->region.size_bytes != from->region.size_bytes)
        return error_set(error, AT_INTERNAL, "a copy between buffers of different sizes");
    memcpy(to->region.bytes, from->region.bytes, to->region.size_bytes);
    if (from->region.valid && to->region.valid)
        memcpy(to->region.valid, from->region.valid, to->region.size_bytes);
    else if (!from->region.valid)
        sim_buffer_mark_written(to);
    return AT_OK;
}

at_status sim_buffer_checksum(device *d, const device_buffer *b, uint64_t size_bytes, uint64_t *sum,
                              at_error *error)
{
    (void)d;
    (void)error;
    *sum = XXH3_64bits(b->region.bytes, size_bytes);
    return AT_OK;
}

/* There are no guards to check: a write outside a simulated buffer is a fault. */
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
    if (memcmp(found->region.bytes, expected->region.bytes, count * bytes) == 0)
        return;
    for (uint64_t i = 0; i < count; i++)
        if (memcmp(found->region.bytes + i * bytes, expected->region.bytes + i * bytes, bytes) != 0)
            note_wrong(out, i);
}

static void compare_close(const device_buffer *found, const device_buffer *expected,
                          const buffer_plan *plan, device_comparison *out)
{
    size_t bytes = dtype_get(plan->type)->size_bytes;
    double magnitude = element_magnitude(plan->type, expected->region.bytes, plan->count);
    for (uint64_t i = 0; i < plan->count; i++)
        if (!tolerance_accepts(plan->tolerance, magnitude, plan->type,
                               found->region.bytes + i * bytes, expected->region.bytes + i * bytes))
            note_wrong(out, i);
}

at_status sim_buffer_compare(device *d, const device_buffer *found, const device_buffer *expected,
                             const buffer_plan *plan, device_comparison *out, at_error *error)
{
    (void)d;
    size_t bytes = dtype_get(plan->type)->size_bytes;
    *out = (device_comparison){0};
    if (plan->count > found->region.size_bytes / bytes ||
        plan->count > expected->region.size_bytes / bytes)
        return error_set(error, AT_INTERNAL, "the plan of %s is larger than the buffer",
                         plan->name);
    if (plan->record)
        return multiset_compare(plan, found->region.bytes, expected->region.bytes, out, error);
    if (plan->tolerance.kind == TOLERANCE_EXACT)
        compare_exact(found, expected, plan->count, bytes, out);
    else
        compare_close(found, expected, plan, out);
    if (out->wrong > 0) {
        memcpy(&out->expected, expected->region.bytes + out->first * bytes, bytes);
        memcpy(&out->found, found->region.bytes + out->first * bytes, bytes);
        out->unwritten = found->region.valid &&
                         memchr(found->region.valid + out->first * bytes, 0, bytes) != NULL;
    }
    return AT_OK;
}
