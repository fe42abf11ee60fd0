// Kernels of the GPU tests, right and wrong. Their parameters are (const T *src, T *dst, unsigned
// long long n), and they copy src to dst. T is the end of the name, otherwise a byte.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ u64 index()
{
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u64 stride()
{
    return (u64)gridDim.x * blockDim.x;
}

static __device__ u64 global_time()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// n is the number of vectors of 16 bytes.
extern "C" __global__ void copy_vector(const uint4 *src, uint4 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i];
}

extern "C" __global__ void copy(const u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i];
}

// Writes a destination that is much larger than the source.
extern "C" __global__ void spread(const u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i % 4096];
}

// Writes one element with a wrong bit, at seven eighths of the buffer.
extern "C" __global__ void one_wrong(const uint4 *src, uint4 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride()) {
        uint4 v = src[i];
        if (i == n / 8 * 7)
            v.z ^= 0x100;
        dst[i] = v;
    }
}

extern "C" __global__ void one_byte_past(const u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i];
    if (index() == 0)
        dst[n] ^= 1;
}

extern "C" __global__ void one_byte_before(const u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i];
    if (index() == 0)
        *(dst - 1) ^= 1;
}

extern "C" __global__ void skips_ragged_edge(const u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n / 1024 * 1024; i += stride())
        dst[i] = src[i];
}

extern "C" __global__ void changes_input(u8 *src, u8 *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i];
    if (index() == 0)
        src[n - 1] += 1;
}

extern "C" __global__ void out_of_bounds(const u8 *src, u8 *dst, u64 n)
{
    dst[index()] = src[(n + index()) << 24];
}

extern "C" __global__ void misaligned(const u8 *src, u8 *dst, u64 n)
{
    *(u32 *)(dst + 1 + 4 * (index() % 8)) = (u32)n + src[0];
}

extern "C" __global__ void endless(const u8 *src, volatile u8 *dst, u64 n)
{
    while (global_time() != 0)
        dst[0] = src[n / 2];
}

// Uses 99 KiB of dynamic shared memory. More than 48 KiB need an attribute.
extern "C" __global__ void shared_99k(const u8 *src, u8 *dst, u64 n)
{
    extern __shared__ u8 tile[];
    const u32 size = 99 * 1024;
    for (u64 start = (u64)blockIdx.x * size; start < n; start += (u64)gridDim.x * size) {
        for (u32 i = threadIdx.x; i < size && start + i < n; i += blockDim.x)
            tile[size - 1 - i] = src[start + i];
        __syncthreads();
        for (u32 i = threadIdx.x; i < size && start + i < n; i += blockDim.x)
            dst[start + i] = tile[size - 1 - i];
        __syncthreads();
    }
}


// Copies n bytes with one block, then waits until `length` nanoseconds after its start.
template <u64 length> static __device__ void timed_copy(const u8 *src, u8 *dst, u64 n)
{
    u64 start = global_time();
    for (u64 i = threadIdx.x; i < n; i += blockDim.x)
        dst[i] = src[i];
    while (global_time() - start < length)
        ;
}

extern "C" __global__ void wait_100us(const u8 *src, u8 *dst, u64 n)
{
    timed_copy<100000>(src, dst, n);
}

extern "C" __global__ void wait_102us(const u8 *src, u8 *dst, u64 n)
{
    timed_copy<102000>(src, dst, n);
}

extern "C" __global__ void wait_200us(const u8 *src, u8 *dst, u64 n)
{
    timed_copy<200000>(src, dst, n);
}

// Computes dst += src, for a buffer that is input and output.
extern "C" __global__ void add_float(const float *src, float *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] += src[i];
}

// Every result is 0.1 % too large, which a tolerance of 1e-2 accepts and one of 1e-4 does not.
extern "C" __global__ void scaled_float(const float *src, float *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i] * 1.001f;
}

extern "C" __global__ void scaled_double(const double *src, double *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i] * 1.001;
}

static __device__ float from_half(unsigned short h)
{
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}

extern "C" __global__ void scaled_half(const unsigned short *src, unsigned short *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride()) {
        float x = from_half(src[i]) * 1.002f;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(dst[i]) : "f"(x));
    }
}

extern "C" __global__ void scaled_bfloat16(const unsigned short *src, unsigned short *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride()) {
        float x = __uint_as_float((u32)src[i] << 16) * 1.004f;
        dst[i] = (unsigned short)((__float_as_uint(x) + 0x7fff) >> 16);
    }
}

extern "C" __global__ void nan_float(const float *src, float *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = i == n / 3 ? __uint_as_float(0x7fc00000) : src[i];
}

// Several threads write each element. The thread that writes last differs between launches.
extern "C" __global__ void racy_float(const float *src, float *dst, u64 n)
{
    for (u64 i = index(); i < n; i += stride())
        dst[i] = src[i] + ((u32)clock64() & 0xff) * 1e-7f;
}
