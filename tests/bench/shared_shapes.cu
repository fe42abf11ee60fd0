// Accesses of one warp to shared memory. Before this file, shared_shapes.py writes a table of byte
// offsets with a row for each shape and a column for each lane (INACTIVE: the lane does nothing).
// After this file, it writes a kernel for each shape.
// Kernels whose names begin with "mix_" mix accesses as real kernels do.

enum { INACTIVE = 0xffff, BYTES = 32768 };

__device__ inline unsigned place_of(const unsigned short (&shape)[32])
{
    return ((const volatile unsigned short *)shape)[threadIdx.x];
}

// Shared memory with known contents at a known address; `at` is this lane's address.
#define SHAPE_BEGIN(shape)                                                        \
    __shared__ __align__(128) unsigned memory[BYTES / 4];                         \
    const unsigned place = place_of(shape);                                       \
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory) + place;       \
    for (int i = threadIdx.x; i < BYTES / 4; i += 32)                             \
        memory[i] = i;                                                            \
    __syncthreads();

#define SHAPE_LOAD_4(shape)                                                       \
    SHAPE_BEGIN(shape)                                                            \
    unsigned a = 0;                                                               \
    if (place != INACTIVE)                                                        \
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at) : "memory");   \
    out[threadIdx.x] = a;

#define SHAPE_LOAD_8(shape)                                                       \
    SHAPE_BEGIN(shape)                                                            \
    unsigned a = 0, b = 0;                                                        \
    if (place != INACTIVE)                                                        \
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"                           \
                     : "=r"(a), "=r"(b) : "r"(at) : "memory");                    \
    out[threadIdx.x] = a ^ b;

#define SHAPE_LOAD_16(shape)                                                      \
    SHAPE_BEGIN(shape)                                                            \
    unsigned a = 0, b = 0, c = 0, d = 0;                                          \
    if (place != INACTIVE)                                                        \
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"                   \
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");  \
    out[threadIdx.x] = a ^ b ^ c ^ d;

// All lanes store the same value, so that lanes with one address do not race.
#define SHAPE_STORE_4(shape)                                                      \
    SHAPE_NO_CONTENTS(shape)                                                      \
    if (place != INACTIVE)                                                        \
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(7) : "memory");     \
    SHAPE_END

#define SHAPE_STORE_8(shape)                                                      \
    SHAPE_NO_CONTENTS(shape)                                                      \
    if (place != INACTIVE)                                                        \
        asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(7) : "memory"); \
    SHAPE_END

#define SHAPE_STORE_16(shape)                                                     \
    SHAPE_NO_CONTENTS(shape)                                                      \
    if (place != INACTIVE)                                                        \
        asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(7) : "memory"); \
    SHAPE_END

// A store is measured alone: the kernel stores nothing else.
#define SHAPE_NO_CONTENTS(shape)                                                  \
    __shared__ __align__(128) unsigned memory[BYTES / 4];                         \
    const unsigned place = place_of(shape);                                       \
    const unsigned at = (unsigned)__cvta_generic_to_shared(memory) + place;

#define SHAPE_END                                                                 \
    out[threadIdx.x] = place;

#define SHAPE_ATOMIC_4(shape)                                                     \
    SHAPE_BEGIN(shape)                                                            \
    unsigned a = 0;                                                               \
    if (place != INACTIVE)                                                        \
        asm volatile("atom.shared.add.u32 %0, [%1], %2;"                          \
                     : "=r"(a) : "r"(at), "r"(threadIdx.x) : "memory");           \
    out[threadIdx.x] = a;

#define SHAPE_ATOMIC_8(shape)                                                     \
    SHAPE_BEGIN(shape)                                                            \
    unsigned long long a = 0;                                                     \
    if (place != INACTIVE)                                                        \
        asm volatile("atom.shared.add.u64 %0, [%1], %2;"                          \
                     : "=l"(a) : "r"(at), "l"((unsigned long long)threadIdx.x) : "memory"); \
    out[threadIdx.x] = (unsigned)a;

// A histogram with COPIES neighbouring copies of each bin. One thread for each bin sums its copies.
template <int COPIES> __device__ void histogram(unsigned *out)
{
    __shared__ unsigned bins[256][COPIES];
    for (int i = threadIdx.x; i < 256 * COPIES; i += 32)
        (&bins[0][0])[i] = 0;
    __syncthreads();
    for (int i = 0; i < 8; i++)
        atomicAdd(&bins[(threadIdx.x * 7 + i * 11) & 255][threadIdx.x % COPIES], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 32) {
        unsigned sum = 0;
        #pragma unroll
        for (int k = 0; k < COPIES; k++)
            sum += bins[i][k];
        out[i & 31] = sum;
    }
}

extern "C" __global__ void mix_histogram_1(unsigned *out) { histogram<1>(out); }
extern "C" __global__ void mix_histogram_2(unsigned *out) { histogram<2>(out); }
extern "C" __global__ void mix_histogram_4(unsigned *out) { histogram<4>(out); }
extern "C" __global__ void mix_histogram_8(unsigned *out) { histogram<8>(out); }

extern "C" __global__ void mix_float_atomics(unsigned *out)
{
    __shared__ float sums[64];
    sums[threadIdx.x] = sums[threadIdx.x + 32] = 0;
    __syncthreads();
    atomicAdd(&sums[threadIdx.x % 8], 1.0f);
    atomicAdd(&sums[threadIdx.x], 1.0f);
    __syncthreads();
    out[threadIdx.x] = (unsigned)(sums[threadIdx.x] + sums[threadIdx.x + 32]);
}

extern "C" __global__ void mix_loads_between_atomics(unsigned *out)
{
    __shared__ unsigned bins[512];
    __shared__ __align__(16) uint4 words[64];
    for (int i = threadIdx.x; i < 512; i += 32)
        bins[i] = i;
    words[threadIdx.x] = words[threadIdx.x + 32] = make_uint4(1, 2, 3, threadIdx.x);
    __syncthreads();
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        atomicAdd(&bins[(threadIdx.x * (i + 1)) & 511], 1u);
        uint4 w = words[(threadIdx.x + i) & 63];
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    out[threadIdx.x] = sum;
}

// The inner loop of a matrix product: a thread's ROWS x COLUMNS elements are adjacent.
template <int ROWS, int COLUMNS, int WIDE, int PAD> __device__ void product(unsigned *out)
{
    enum { K = 8, M = 32 / WIDE * ROWS, N = WIDE * COLUMNS };
    __shared__ __align__(16) float a[K][M + PAD];
    __shared__ __align__(16) float b[K][N];
    const int x = threadIdx.x % WIDE, y = threadIdx.x / WIDE;
    for (int i = threadIdx.x; i < K * (M + PAD); i += 32)
        (&a[0][0])[i] = (float)i;
    for (int i = threadIdx.x; i < K * N; i += 32)
        (&b[0][0])[i] = (float)i;
    __syncthreads();
    float sum[ROWS][COLUMNS] = {};
    #pragma unroll
    for (int k = 0; k < K; k++) {
        float p[ROWS], q[COLUMNS];
        #pragma unroll
        for (int i = 0; i < ROWS; i++)
            p[i] = a[k][y * ROWS + i];
        #pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            q[j] = b[k][x * COLUMNS + j];
        #pragma unroll
        for (int i = 0; i < ROWS; i++)
            #pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[i][j] += p[i] * q[j];
    }
    float all = 0;
    #pragma unroll
    for (int i = 0; i < ROWS; i++)
        #pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            all += sum[i][j];
    out[threadIdx.x] = (unsigned)all;
}

extern "C" __global__ void mix_product_4_4_8(unsigned *out) { product<4, 4, 8, 0>(out); }
extern "C" __global__ void mix_product_4_4_16(unsigned *out) { product<4, 4, 16, 0>(out); }
extern "C" __global__ void mix_product_8_8_8(unsigned *out) { product<8, 8, 8, 0>(out); }
extern "C" __global__ void mix_product_8_8_16(unsigned *out) { product<8, 8, 16, 0>(out); }
extern "C" __global__ void mix_product_8_4_4_pad_1(unsigned *out) { product<8, 4, 4, 1>(out); }
extern "C" __global__ void mix_product_2_8_16_pad_4(unsigned *out) { product<2, 8, 16, 4>(out); }
extern "C" __global__ void mix_product_2_2_32(unsigned *out) { product<2, 2, 32, 0>(out); }

// Rows of a tile with a halo: stored four elements at a time, read with neighbours.
template <int WIDE, int PAD> __device__ void stencil(unsigned *out)
{
    enum { ROWS = 10, COLUMNS = WIDE * 4 + 8 + PAD };
    __shared__ __align__(16) float rows[ROWS][COLUMNS];
    const int x = threadIdx.x % WIDE, y = threadIdx.x / WIDE;
    for (int r = y; r < ROWS; r += 32 / WIDE) {
        *reinterpret_cast<float4 *>(&rows[r][x * 4 + 4]) = make_float4(x, y, r, 1);
        if (x == 0)
            rows[r][3] = rows[r][WIDE * 4 + 4] = 0;
    }
    __syncthreads();
    float sum = 0;
    for (int r = y + 1; r < ROWS - 1; r += 32 / WIDE) {
        const float4 here = *reinterpret_cast<const float4 *>(&rows[r][x * 4 + 4]);
        const float4 above = *reinterpret_cast<const float4 *>(&rows[r - 1][x * 4 + 4]);
        const float4 below = *reinterpret_cast<const float4 *>(&rows[r + 1][x * 4 + 4]);
        sum += here.x + here.y + here.z + here.w + above.x + above.y + above.z + above.w + below.x +
               below.y + below.z + below.w + rows[r][x * 4 + 3] + rows[r][x * 4 + 8];
    }
    out[threadIdx.x] = (unsigned)sum;
}

extern "C" __global__ void mix_stencil_4(unsigned *out) { stencil<4, 0>(out); }
extern "C" __global__ void mix_stencil_8(unsigned *out) { stencil<8, 0>(out); }
extern "C" __global__ void mix_stencil_16(unsigned *out) { stencil<16, 0>(out); }
extern "C" __global__ void mix_stencil_32(unsigned *out) { stencil<32, 0>(out); }
extern "C" __global__ void mix_stencil_8_pad_4(unsigned *out) { stencil<8, 4>(out); }
