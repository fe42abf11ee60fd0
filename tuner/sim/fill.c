#include "sim/fill.h"

#include <string.h>

#include "base/bits.h"

/* The output function of SplitMix64 (Steele, Lea & Flood 2014). */
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

/* A bijection of [0, 2^(2 * half)): a Feistel network of four rounds. */
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

/* Walks the cycle until it is back in [0, count). */
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

/* An octave by chance, and a value in it by chance. */
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

/* uniform() of floats, for vectors. */
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

void sim_fill_part(uint8_t *bytes, const buffer_plan *plan, uint64_t seed, uint64_t first,
                   uint64_t end)
{
    size_t size = dtype_get(plan->type)->size_bytes;
    /* Most scripts ask for this, and long loops of sampled blocks wait for it. */
    if (plan->fill == FILL_UNIFORM && plan->type == DTYPE_FLOAT) {
        fill_floats(bytes, seed, first, end);
        return;
    }
    for (uint64_t i = first; i < end; i++) {
        uint64_t bits = element(plan, seed, i);
        memcpy(bytes + i * size, &bits, size);
    }
}

void sim_fill(uint8_t *bytes, const buffer_plan *plan, uint64_t seed)
{
    sim_fill_part(bytes, plan, seed, 0, plan->count);
}
