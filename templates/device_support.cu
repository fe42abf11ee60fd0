// Kernels that the device worker runs on the GPU beside the variants: fill, guard bands, comparison,
// checksum, cache flush, the gate that blocks a stream, clock reading. They need no header and compile
// under NVRTC's --minimal. All loops are grid-stride loops, so that any grid works.
//
// Every run with an empty cache waits for this source before it measures. Therefore code that need not
// be fast is neither inlined nor unrolled, which saves a third of the compile time. Two processes compile
// the source at the same time: SUPPORT_PART is 1 for the first half, 2 for the second, undefined for all.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// In the order of dtype in base/value.h.
enum Type { INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, HALF, BFLOAT16, FLOAT, DOUBLE };
// In the order of buffer_fill in device/plan.h.
enum Fill {
    UNIFORM, BITS, INDEX, MODULO, VALUES, PERMUTATION, SORTED, LOCAL, SKEWED, OFFSETS
};
// In the order of tolerance_kind in device/plan.h.
enum Tolerance { EXACT, SCALED, RELATIVE, ABSOLUTE, ULPS };
// Words of the result block, in the order of cuda_result in cuda/queue.h. All start at zero, so a
// minimum is kept as the maximum of the complement.
enum Result { WRONG, FIRST_INVERTED, MAGNITUDE, SUM, BEFORE_INVERTED, AFTER_INVERTED };

static __device__ u64 thread_index()
{
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u64 thread_count()
{
    return (u64)gridDim.x * blockDim.x;
}

static __device__ __noinline__ u64 quotient(u64 a, u64 b)
{
    return a / b;
}

static __device__ u64 remainder_of(u64 a, u64 b)
{
    return a - quotient(a, b) * b;
}

static __device__ u64 global_time()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// The output function of SplitMix64 (Steele, Lea & Flood 2014): element i of a stream is a function
// of seed and i alone.
static __device__ __noinline__ u64 random_bits(u64 seed, u64 i)
{
    u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static __device__ u16 half_from_float(float x)
{
    u16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

static __device__ float float_from_half(u16 h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

// Rounds to nearest even. `x` must not be NaN.
static __device__ u16 bfloat16_from_float(float x)
{
    u32 bits = __float_as_uint(x);
    return (u16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static __device__ double load_element(const void *data, u64 i, int type)
{
    switch (type) {
    case INT8:
        return ((const signed char *)data)[i];
    case UINT8:
        return ((const u8 *)data)[i];
    case INT16:
        return ((const short *)data)[i];
    case UINT16:
        return ((const u16 *)data)[i];
    case INT32:
        return ((const int *)data)[i];
    case UINT32:
        return ((const u32 *)data)[i];
    case INT64:
        return (double)((const long long *)data)[i];
    case UINT64:
        return (double)((const u64 *)data)[i];
    case HALF:
        return float_from_half(((const u16 *)data)[i]);
    case BFLOAT16:
        return __uint_as_float((u32)((const u16 *)data)[i] << 16);
    case FLOAT:
        return ((const float *)data)[i];
    default:
        return ((const double *)data)[i];
    }
}

static __device__ void store_bits(void *data, u64 i, int type, u64 bits)
{
    switch (type) {
    case INT8:
    case UINT8:
        ((u8 *)data)[i] = (u8)bits;
        return;
    case INT16:
    case UINT16:
    case HALF:
    case BFLOAT16:
        ((u16 *)data)[i] = (u16)bits;
        return;
    case INT32:
    case UINT32:
    case FLOAT:
        ((u32 *)data)[i] = (u32)bits;
        return;
    default:
        ((u64 *)data)[i] = bits;
    }
}

// Returns the bits of an integer, converted to the type.
static __device__ __noinline__ u64 convert_integer(u64 v, int type)
{
    switch (type) {
    case HALF:
        return half_from_float((float)v);
    case BFLOAT16:
        return bfloat16_from_float((float)v);
    case FLOAT:
        return __float_as_uint((float)v);
    case DOUBLE:
        return (u64)__double_as_longlong((double)v);
    default:
        return v;
    }
}

// Floats: a sign and as many magnitude bits as the significand has, so that every value is exact
// and every bit of the mantissa varies. Integers: random bits.
static __device__ u64 uniform(u64 r, int type)
{
    float sign = (long long)r < 0 ? -1.0f : 1.0f;
    switch (type) {
    case HALF:
        return half_from_float(sign * (float)(r & 0x7ff) * 0x1p-11f);
    case BFLOAT16:
        return bfloat16_from_float(sign * (float)(r & 0xff) * 0x1p-8f);
    case FLOAT:
        return __float_as_uint(sign * (float)(r & 0xffffff) * 0x1p-24f);
    case DOUBLE:
        return (u64)__double_as_longlong(sign * (double)(r & 0x1fffffffffffff) * 0x1p-53);
    default:
        return r;
    }
}

// Values of a fill, in the order of buffer_plan in device/plan.h.
struct Values {
    u64 count;
    double v[32];
};

// device/plan.h defines the fills; tuner/sim/buffer.c makes the same values.

// A bijection of [0, 2^(2 * half)): a Feistel network of four rounds.
static __device__ u64 shuffle_bits(u64 v, u32 half, u64 seed)
{
    u64 mask = (1ull << half) - 1, left = v >> half, right = v & mask;
#pragma unroll 1
    for (u64 round = 0; round < 4; round++) {
        u64 next = left ^ (random_bits(seed + round, right) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

// Returns element `i` of a permutation of [0, count): repeats the bijection until its value is below `count`.
static __device__ u64 permuted(u64 i, u64 count, u64 seed)
{
    u32 half = 1;
    while (2 * half < 64 && 1ull << 2 * half < count)
        half++;
    do
        i = shuffle_bits(i, half, seed);
    while (i >= count);
    return i;
}

// Returns a value below `limit`: a random value from a random octave, [2^k - 1, 2^(k + 1) - 1).
static __device__ u64 skewed(u64 r, u64 limit)
{
    u64 octaves = 64 - (u64)__clzll((long long)limit);
    u64 octave = __umul64hi(r, octaves), low = 1ull << octave;
    u64 v = low - 1 + (random_bits(r, octave) & (low - 1));
    return v < limit ? v : remainder_of(v, limit);
}

static __device__ u64 offset_of(u64 i, u64 count, u64 limit, u64 r)
{
    if (i == 0 || i == count - 1)
        return i == 0 ? 0 : limit;
    return quotient(i * limit - __umul64hi(r, limit), count - 1);
}

static __device__ u64 local_of(u64 i, u64 limit, u64 block, u64 r)
{
    u64 windows = quotient(limit, block) + (remainder_of(limit, block) != 0);
    u64 start = remainder_of(quotient(i, block), windows) * block;
    u64 width = limit - start < block ? limit - start : block;
    return start + __umul64hi(r, width);
}

static __device__ u64 double_bits(double v, int type)
{
    switch (type) {
    case HALF:
        return half_from_float((float)v);
    case BFLOAT16:
        return bfloat16_from_float((float)v);
    case FLOAT:
        return __float_as_uint((float)v);
    case DOUBLE:
        return (u64)__double_as_longlong(v);
    default:
        return (u64)(long long)v;
    }
}

#if !defined(SUPPORT_PART) || SUPPORT_PART == 1

extern "C" __global__ void at_fill(void *data, u64 count, int type, int fill, u64 limit, u64 seed,
                                   u64 block, Values values)
{
#pragma unroll 1
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        u64 r = random_bits(seed, i), bits;
        switch (fill) {
        case UNIFORM:
            bits = uniform(r, type);
            break;
        case BITS:
            bits = r;
            break;
        case INDEX:
            bits = convert_integer(i, type);
            break;
        case VALUES:
            bits = double_bits(values.v[remainder_of(i, values.count)], type);
            break;
        case PERMUTATION:
            bits = convert_integer(permuted(i, count, seed), type);
            break;
        case SORTED:
            bits = convert_integer(quotient(i * limit + __umul64hi(r, limit), count), type);
            break;
        case LOCAL:
            bits = convert_integer(local_of(i, limit, block, r), type);
            break;
        case SKEWED:
            bits = convert_integer(skewed(r, limit), type);
            break;
        case OFFSETS:
            bits = convert_integer(offset_of(i, count, limit, r), type);
            break;
        default:
            bits = convert_integer(__umul64hi(r, limit), type);
            break;
        }
        store_bits(data, i, type, bits);
    }
}

static __device__ u32 element_bytes(int type)
{
    switch (type) {
    case INT8:
    case UINT8:
        return 1;
    case INT16:
    case UINT16:
    case HALF:
    case BFLOAT16:
        return 2;
    case INT32:
    case UINT32:
    case FLOAT:
        return 4;
    default:
        return 8;
    }
}

// Returns an element of a guard band, which would be noticed in an output. `pattern` modulo 4: 0 gives NaN
// or an index far after the end; 1 a huge value or an index far before the start; 2 an ordinary value; 3
// the same as 1 with the other sign.
static __device__ u64 guard_value(u64 r, int type, int pattern)
{
    const u64 sign = (pattern & 3) == 3 ? ~r >> 63 : r >> 63;
    const bool nan = (pattern & 3) == 0;
    if ((pattern & 3) == 2)
        return uniform(r, type);
    switch (type) {
    case HALF:
        return sign << 15 | (nan ? 0x7e00 | (r & 0x1ff) : 0x7800 | (r & 0x3ff));
    case BFLOAT16:
        return sign << 15 | (nan ? 0x7fc0 | (r & 0x3f) : 0x7e00 | (r & 0xff));
    case FLOAT:
        return sign << 31 | (nan ? 0x7fc00000 | (r & 0x3fffff) : 0x7e000000 | (r & 0xffffff));
    case DOUBLE:
        return sign << 63 | (nan ? 0x7ff8000000000000ull | (r & 0x7ffffffffffffull)
                                 : 0x7fd0000000000000ull | (r & 0xfffffffffffffull));
    case INT32:
    case UINT32:
        return nan ? 0x40000000 | (r & 0x3fffffff) : 0x80000000 | (r & 0x7fffffff);
    case INT64:
    case UINT64:
        return nan ? 0x4000000000000000ull | r >> 2 : 0x8000000000000000ull | r >> 1;
    default:
        return r;
    }
}

// Returns byte i of a guard band. Each buffer has its own `salt`, so that bytes copied from another
// buffer are wrong.
static __device__ __noinline__ u8 guard_byte(u64 i, int type, int pattern, u64 salt)
{
    const u32 bytes = element_bytes(type), shift = (u32)__ffs((int)bytes) - 1;
    return (u8)(guard_value(random_bits(salt, i >> shift), type, pattern) >> (8 * (i & (bytes - 1))));
}

extern "C" __global__ void at_guards_set(u8 *before, u8 *after, u64 size, int type, int pattern,
                                         u64 salt)
{
#pragma unroll 1
    for (u64 i = thread_index(); i < size; i += thread_count()) {
        before[i] = guard_byte(i, type, pattern, salt);
        after[i] = guard_byte(i, type, pattern, ~salt);
    }
}

extern "C" __global__ void at_guards_check(const u8 *before, const u8 *after, u64 size, int type,
                                           int pattern, u64 salt, u64 *results)
{
#pragma unroll 1
    for (u64 i = thread_index(); i < size; i += thread_count()) {
        if (before[i] != guard_byte(i, type, pattern, salt))
            atomicMax(&results[BEFORE_INVERTED], ~(size - i));
        if (after[i] != guard_byte(i, type, pattern, ~salt))
            atomicMax(&results[AFTER_INVERTED], ~(i + 1));
    }
}

#endif
#if !defined(SUPPORT_PART) || SUPPORT_PART == 2

// Fills the block's shared memory, because a kernel may find the data of an earlier kernel there.
extern "C" __global__ void at_scrub(u32 bytes, u32 value)
{
    extern __shared__ u32 words[];
    volatile u32 *const all = words;
    for (u32 i = threadIdx.x; i < bytes / 4; i += blockDim.x)
        all[i] = value + i;
}

struct Tally {
    u64 wrong, first;
};

static __device__ void count_wrong(Tally &t, u64 element)
{
    t.wrong++;
    t.first = element < t.first ? element : t.first;
}

static __device__ void report(const Tally &t, u64 *results)
{
    if (t.wrong == 0)
        return;
    atomicAdd(&results[WRONG], t.wrong);
    atomicMax(&results[FIRST_INVERTED], ~t.first);
}

// Counts the elements of `width` bytes that differ. `difference` is the XOR of the eight bytes from byte `at`.
static __device__ __noinline__ void count_differences(Tally &t, u64 difference, u64 at, u32 width)
{
    u64 mask = width == 8 ? ~0ull : (1ull << (8 * width)) - 1;
#pragma unroll 1
    for (u32 byte = 0; byte < 8; byte += width)
        if ((difference >> (8 * byte)) & mask)
            count_wrong(t, (at + byte) >> (__ffs((int)width) - 1));
}

// Compares bits, 16 bytes at a time; buffers start at multiples of 16.
extern "C" __global__ void at_compare_exact(const u8 *found, const u8 *expected, u64 size,
                                            u32 width, u64 *results)
{
    const ulonglong2 *f = (const ulonglong2 *)found;
    const ulonglong2 *e = (const ulonglong2 *)expected;
    Tally t = {0, ~0ull};
#pragma unroll 1
    for (u64 i = thread_index(); i < size / 16; i += thread_count()) {
        ulonglong2 a = f[i], b = e[i];
        u64 low = a.x ^ b.x, high = a.y ^ b.y;
        if (low | high) {
            count_differences(t, low, 16 * i, width);
            count_differences(t, high, 16 * i + 8, width);
        }
    }
    const u32 shift = (u32)__ffs((int)width) - 1;
    u64 done = size / 16 * 16;
#pragma unroll 1
    for (u64 i = (done >> shift) + thread_index(); i < size >> shift; i += thread_count()) {
        bool same = true;
#pragma unroll 1
        for (u32 byte = 0; byte < width; byte++)
            same = same && found[i * width + byte] == expected[i * width + byte];
        if (!same)
            count_wrong(t, i);
    }
    report(t, results);
}

static __device__ double infinity()
{
    return __longlong_as_double(0x7ff0000000000000ll);
}

static __device__ bool is_float(int type)
{
    return type >= HALF;
}

// Writes the largest finite magnitude to results[MAGNITUDE].
extern "C" __global__ void at_magnitude(const void *expected, u64 count, int type, u64 *results)
{
    double largest = 0;
#pragma unroll 1
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        double magnitude = fabs(load_element(expected, i, type));
        if (magnitude < infinity())
            largest = fmax(largest, magnitude);
    }
    // Non-negative doubles have the same order as their bits.
    atomicMax(&results[MAGNITUDE], (u64)__double_as_longlong(largest));
}

// Maps the bits of a float to an integer: neighbouring floats differ by 1, and both zeros are equal.
static __device__ u64 place_of_float(u64 bits, int width)
{
    const u64 middle = 1ull << 63, sign = 1ull << (width - 1);
    return bits & sign ? middle - (bits & (sign - 1)) : middle + bits;
}

static __device__ u64 place_of(const void *data, u64 i, int type)
{
    const u64 middle = 1ull << 63;
    switch (type) {
    case INT8:
        return middle + (u64)(long long)((const signed char *)data)[i];
    case UINT8:
        return ((const u8 *)data)[i];
    case INT16:
        return middle + (u64)(long long)((const short *)data)[i];
    case UINT16:
        return ((const u16 *)data)[i];
    case INT32:
        return middle + (u64)(long long)((const int *)data)[i];
    case UINT32:
        return ((const u32 *)data)[i];
    case INT64:
        return middle + ((const u64 *)data)[i];
    case HALF:
    case BFLOAT16:
        return place_of_float(((const u16 *)data)[i], 16);
    case FLOAT:
        return place_of_float(((const u32 *)data)[i], 32);
    case DOUBLE:
        return place_of_float(((const u64 *)data)[i], 64);
    default:
        return ((const u64 *)data)[i];
    }
}

// The same as tolerance_accepts() in device/tolerance.c, except for exact comparisons.
static __device__ bool accepts(const void *found, const void *expected, u64 i, int type, int kind,
                               double limit, double magnitude)
{
    const double x = load_element(found, i, type), y = load_element(expected, i, type);
    const u64 a = place_of(found, i, type), b = place_of(expected, i, type);
    const u64 steps = a > b ? a - b : b - a;
    if (is_float(type) && (x != x || y != y))
        return x != x && y != y;
    if (is_float(type) && (fabs(x) == infinity() || fabs(y) == infinity()))
        return x == y;
    double allowed = limit;
    if (kind == SCALED)
        allowed *= magnitude;
    if (kind == RELATIVE)
        allowed *= fabs(y);
    if (is_float(type) && kind != ULPS)
        return fabs(x - y) <= allowed;
    return allowed >= 0x1p64 || steps <= (u64)allowed;
}

// If `kind` is SCALED, `results` has the result of at_magnitude.
extern "C" __global__ void at_compare_close(const void *found, const void *expected, u64 count,
                                            int type, int kind, double limit, u64 *results)
{
    const double magnitude = __longlong_as_double((long long)results[MAGNITUDE]);
    Tally t = {0, ~0ull};
#pragma unroll 1
    for (u64 i = thread_index(); i < count; i += thread_count())
        if (!accepts(found, expected, i, type, kind, limit, magnitude))
            count_wrong(t, i);
    report(t, results);
}

// For each index, this is a bijection of the word, so a change of one word always changes the sum. The
// index makes the sum depend on the order of the words.
static __device__ u64 checksum_term(u64 word, u64 i)
{
    u64 v = (word ^ (i * 0x9e3779b97f4a7c15ull)) * 0xd6e8feb86659fd93ull;
    return v ^ (v >> 32);
}

extern "C" __global__ void at_checksum(const u8 *data, u64 size, u64 *results)
{
    const ulonglong2 *words = (const ulonglong2 *)data;
    u64 sum = 0;
    for (u64 i = thread_index(); i < size / 16; i += thread_count()) {
        ulonglong2 w = words[i];
        sum += checksum_term(w.x, 2 * i) + checksum_term(w.y, 2 * i + 1);
    }
    u64 done = size / 16 * 16;
#pragma unroll 1
    for (u64 i = done + thread_index(); i < size; i += thread_count())
        sum += checksum_term(data[i] + 1ull, i);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&results[SUM], sum);
}

extern "C" __global__ void at_flush_write(uint4 *data, u64 count, u64 salt)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        u32 v = (u32)i * 0x9e3779b1u ^ (u32)salt;
        data[i] = make_uint4(v, v + 1, ~v, v ^ 0x5a5a5a5au);
    }
}

// The store keeps the compiler from removing the loads; one thread in four thousand million
// executes it.
extern "C" __global__ void at_flush_read(const uint4 *data, u64 count, u64 *sink)
{
    u32 sum = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        uint4 v = data[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x7f4a7c15u)
        *sink = sum;
}

// Blocks the stream until the host has queued all work behind the gate and sets *flag to `ticket`.
// Gives up after `timeout_ns`, so that a stopped host blocks nothing.
extern "C" __global__ void at_gate(const volatile u32 *flag, u32 ticket, u64 timeout_ns)
{
    u64 start = global_time();
    while ((int)(*flag - ticket) < 0 && global_time() - start < timeout_ns)
        ;
}

extern "C" __global__ void at_empty()
{
}

// One block on each SM reads the SM's cycle counter and nanoseconds.
extern "C" __global__ void at_clock(u64 *out, u32 capacity)
{
    u32 sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0 && sm < capacity) {
        out[2 * sm] = (u64)clock64();
        out[2 * sm + 1] = global_time();
    }
}

#endif
