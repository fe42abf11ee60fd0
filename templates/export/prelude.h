% local text = require "lib.c_header"
#ifndef AUTOTUNE_RULE_DEFINED
#define AUTOTUNE_RULE_DEFINED
#if defined(__GNUC__)
#define AUTOTUNE_UNUSED __attribute__((unused))
#else
#define AUTOTUNE_UNUSED
#endif
#if defined(__CUDACC__)
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static __host__ __device__ constexpr
#elif defined(__cplusplus)
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static constexpr
#else
#define AUTOTUNE_FUNCTION AUTOTUNE_UNUSED static inline
#endif

% include "export/pick_rules.h"

/* The device. `name` is the driver's name for it, `major` and `minor` are its compute capability,
 * and sizes are in bytes. Of the other fields only those matter that a pattern's constraints read. */
typedef struct autotune_device {
% local types = { int = "int64_t ", size = "int64_t ", double = "double ", text = "const char *" }
% for _, field in ipairs(device_fields) do
    ${types[field.kind]}${field.name};
% end
} autotune_device;

/* Returns a device of which only name and compute capability are known. It has the limits of its
 * compute capability and the chip of a typical product. If the capability is not in this table, the
 * other fields are 0: set the fields that the constraints read. */
AUTOTUNE_FUNCTION autotune_device
autotune_device_named(const char *name, int major, int minor)
{
    const autotune_device unknown = ${text.device_values(device_fields, nil, 38)};
% for _, limits in ipairs(capabilities) do
    if (major == ${limits.major} && minor == ${limits.minor}) {
        const autotune_device device =
            ${text.device_values(device_fields, limits, 12)};
        return device;
    }
% end
    return unknown;
}

/* Lua's integer arithmetic: it wraps around, and division rounds down. */
AUTOTUNE_FUNCTION int64_t autotune_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_multiply(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

AUTOTUNE_FUNCTION int64_t autotune_divide(int64_t a, int64_t b, int *failed)
{
    if (b == 0)
        *failed = 1;
    if (b == 0 || b == -1)
        return b == 0 ? 0 : autotune_subtract(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

AUTOTUNE_FUNCTION int64_t autotune_remainder(int64_t a, int64_t b, int *failed)
{
    if (b == 0)
        *failed = 1;
    if (b == 0 || b == -1)
        return 0;
    return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

/* Shifts by n bits to the left, or to the right if n is negative; zeros move in. */
AUTOTUNE_FUNCTION int64_t autotune_shift(int64_t a, int64_t n)
{
    if (n <= -64 || n >= 64)
        return 0;
    return (int64_t)(n < 0 ? (uint64_t)a >> -n : (uint64_t)a << n);
}

AUTOTUNE_FUNCTION int64_t autotune_ceil_div(int64_t a, int64_t b, int *failed)
{
    if (a < 0 || b <= 0) {
        *failed = 1;
        return 0;
    }
    return a / b + (a % b != 0 ? 1 : 0);
}

AUTOTUNE_FUNCTION int64_t autotune_round_up(int64_t a, int64_t b, int *failed)
{
    if (a < 0 || b <= 0 || a > INT64_MAX - b) {
        *failed = 1;
        return 0;
    }
    return (a + b - 1) / b * b;
}

AUTOTUNE_FUNCTION int64_t autotune_log2(int64_t n, int *failed)
{
    int64_t exponent = 0;
    if (n <= 0)
        *failed = 1;
    for (; n > 1; n /= 2)
        exponent += 1;
    return exponent;
}

/* Returns how many clusters of `blocks` blocks are resident if each multiprocessor holds `each`
 * blocks. Two blocks fit anywhere. More must fit within one of two GPCs of 18 multiprocessors, the
 * GPCs of 16, the rest, or one of four pairs that belong to no GPC. */
AUTOTUNE_FUNCTION int64_t
autotune_cluster_slots(int64_t multiprocessors, int64_t blocks, int64_t each)
{
    if (blocks <= 2 || multiprocessors < 44)
        return multiprocessors * each / blocks;
    return 2 * (18 * each / blocks) + (multiprocessors - 44) / 16 * (16 * each / blocks) +
           (multiprocessors - 44) % 16 * each / blocks + 4 * (2 * each / blocks);
}

/* Returns how many blocks the busiest multiprocessor gets. */
AUTOTUNE_FUNCTION int64_t autotune_cluster_load(int64_t multiprocessors, int64_t clusters,
                                                int64_t blocks, int64_t resident, int *failed)
{
    int64_t most = 0, rounds = 0, last = 1;
    if (multiprocessors <= 0 || multiprocessors > 1024 || clusters <= 0 ||
        clusters > INT64_C(1) << 40 || blocks <= 0 || blocks > 1024 || resident <= 0 ||
        resident > 1024) {
        *failed = 1;
        return 0;
    }
    most = autotune_cluster_slots(multiprocessors, blocks, resident);
    if (most == 0)
        return resident * clusters * blocks;
    rounds = (clusters - 1) / most;
    while (autotune_cluster_slots(multiprocessors, blocks, last) < clusters - rounds * most)
        last += 1;
    return rounds * resident + last;
}

AUTOTUNE_FUNCTION bool autotune_is_pow2(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

AUTOTUNE_FUNCTION int64_t autotune_min(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

AUTOTUNE_FUNCTION int64_t autotune_max(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_min_number(double a, double b)
{
    return b < a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_max_number(double a, double b)
{
    return b > a ? b : a;
}

AUTOTUNE_FUNCTION double autotune_floor(double x)
{
    double whole = x;
    if (x > -9e15 && x < 9e15) {
        whole = (double)(int64_t)x;
        whole -= whole > x ? 1 : 0;
    }
    return whole;
}

AUTOTUNE_FUNCTION bool autotune_same_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Returns true: in Lua, only nil and false are not true, and a C number is neither. */
AUTOTUNE_FUNCTION bool autotune_given(int64_t value)
{
    (void)value;
    return true;
}

AUTOTUNE_FUNCTION bool autotune_given_number(double value)
{
    (void)value;
    return true;
}

AUTOTUNE_FUNCTION bool autotune_given_text(const char *value)
{
    (void)value;
    return true;
}

AUTOTUNE_FUNCTION bool autotune_text_before(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a < (unsigned char)*b;
}

AUTOTUNE_FUNCTION bool autotune_contains(const char *text, const char *part)
{
    for (;; text++) {
        size_t i = 0;
        while (part[i] && text[i] == part[i])
            i++;
        if (!part[i])
            return true;
        if (!*text)
            return false;
    }
}

/* Returns the bytes of an element. */
AUTOTUNE_FUNCTION int64_t autotune_sizeof(const char *dtype, int *failed)
{
% for _, t in ipairs(element_types) do
    if (autotune_same_text(dtype, "${t.name}"))
        return ${t.bytes};
% end
    *failed = 1;
    return 1;
}

AUTOTUNE_FUNCTION bool autotune_is_float(const char *dtype, int *failed)
{
% for _, t in ipairs(element_types) do
%   if t.is_float then
    if (autotune_same_text(dtype, "${t.name}"))
        return true;
%   end
% end
    (void)autotune_sizeof(dtype, failed);
    return false;
}

#if defined(CUDART_VERSION) && !defined(__CUDACC_RTC__)
/* Returns a device of the CUDA runtime. The name points into `properties`, which must outlive
 * it. */
AUTOTUNE_UNUSED static inline cudaError_t
autotune_device_of(int ordinal, struct cudaDeviceProp *properties, autotune_device *out)
{
    static const struct {
        enum cudaDeviceAttr attribute;
        size_t offset;
    } fields[] = {
        {cudaDevAttrComputeCapabilityMajor, offsetof(autotune_device, major)},
        {cudaDevAttrComputeCapabilityMinor, offsetof(autotune_device, minor)},
        {cudaDevAttrMultiProcessorCount, offsetof(autotune_device, sm_count)},
        {cudaDevAttrWarpSize, offsetof(autotune_device, warp_size)},
        {cudaDevAttrMaxThreadsPerBlock, offsetof(autotune_device, max_threads_per_block)},
        {cudaDevAttrMaxThreadsPerMultiProcessor, offsetof(autotune_device, max_threads_per_sm)},
        {cudaDevAttrMaxBlocksPerMultiprocessor, offsetof(autotune_device, max_blocks_per_sm)},
        {cudaDevAttrMaxRegistersPerMultiprocessor, offsetof(autotune_device, registers_per_sm)},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, offsetof(autotune_device, shared_per_sm)},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin,
         offsetof(autotune_device, max_shared_per_block)},
        {cudaDevAttrL2CacheSize, offsetof(autotune_device, l2_bytes)},
        {cudaDevAttrClockRate, offsetof(autotune_device, clock_khz)},
    };
    int memory_khz = 0, bus_bits = 0;
    size_t i;
    cudaError_t status = cudaGetDeviceProperties(properties, ordinal);
    memset(out, 0, sizeof *out);
    for (i = 0; i < sizeof fields / sizeof *fields && status == cudaSuccess; i++) {
        int v = 0;
        int64_t wide;
        status = cudaDeviceGetAttribute(&v, fields[i].attribute, ordinal);
        wide = v;
        memcpy((char *)out + fields[i].offset, &wide, sizeof wide);
    }
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, ordinal);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal);
    out->name = properties->name;
    out->max_registers_per_thread = 255;
    out->global_bytes = (int64_t)properties->totalGlobalMem;
    out->bandwidth = 2.0 * memory_khz * 1000.0 * bus_bits / 8.0;
    return status;
}
#endif
#endif
