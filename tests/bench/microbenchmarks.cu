// Measures the costs in the model of predicted times, each with a kernel that does nothing else.
// tuner/sim/chip.c and model.c name the printed line that gives a figure.
//
//   nvcc -O2 -std=c++17 -arch=native -o microbenchmarks microbenchmarks.cu && ./microbenchmarks
//
// Each line has a name, then pairs of a varied quantity and the result. Times are medians between
// events. Reads from DRAM are cold, because everything else has been read since. mechanisms.cu
// measures what happens if several units of the GPU meet.
#include "microbenchmarks.cuh"

// "flight": resident blocks loop over the data, with this many bytes in flight on each SM. "oneshot":
// one block reads each piece.
template <int UNROLL>
__global__ void read_some(const Words *p, size_t n, unsigned *out)
{
    unsigned sum = 0;
    const size_t step = size_t(gridDim.x) * blockDim.x * UNROLL;
    for (size_t i = blockIdx.x * size_t(blockDim.x) * UNROLL + threadIdx.x; i < n; i += step) {
        Words v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            v[u] = p[i + u * blockDim.x];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            sum += v[u].x ^ v[u].w;
    }
    if (sum == 1)
        *out = sum;
}

template <int UNROLL>
__global__ void copy_some(const Words *p, Words *q, size_t n)
{
    const size_t step = size_t(gridDim.x) * blockDim.x * UNROLL;
    for (size_t i = blockIdx.x * size_t(blockDim.x) * UNROLL + threadIdx.x; i < n; i += step) {
        Words v[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            v[u] = p[i + u * blockDim.x];
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
            q[i + u * blockDim.x] = v[u];
    }
}

template <int UNROLL>
static void flight(int threads, int blocks)
{
    const size_t n = PART / 16 / (UNROLL * threads) * (UNROLL * threads);
    const int grid = blocks > 0 ? sms * blocks : int(n / threads / UNROLL);
    printf(" %d KiB %.0f %.0f;", UNROLL * 16 * threads * (blocks > 0 ? blocks : 2048 / threads) / 1024,
           PART / time_of([&] { read_some<UNROLL><<<grid, threads>>>(from, n, out); }),
           2 * PART / time_of([&] { copy_some<UNROLL><<<grid, threads>>>(from, to, n); }));
}

// "runs": runs of 2^shift neighbouring vectors at addresses far apart.
template <bool WRITES>
__global__ void runs(Words *p, int shift, unsigned mask, unsigned *out)
{
    const unsigned first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    unsigned sum = 0;
    Words v[8];
#pragma unroll
    for (int u = 0; u < 8; u++) {
        const unsigned i = first + u * blockDim.x, run = ((i >> shift) * 2654435761u) & mask;
        Words *at = p + (size_t(run) << shift) + (i & ((1u << shift) - 1));
        if (WRITES)
            *at = make_uint4(i, 1, 2, 3);
        else
            v[u] = *at;
    }
#pragma unroll
    for (int u = 0; u < 8 && !WRITES; u++)
        sum += v[u].x;
    if (!WRITES && sum == 1)
        *out = sum;
}

// "hint": a copy by loads with a hint.
template <int HINT>
__global__ void copy_hinted(const Words *p, Words *q)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    Words v;
    if (HINT == 1)
        asm volatile("ld.global.cs.v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + i));
    else if (HINT == 2)
        asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + i));
    else if (HINT == 3)
        asm volatile("ld.global.nc.L2::256B.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p + i));
    else
        v = p[i];
    q[i] = v;
}

// "l2 sectors": lanes `stride` words apart, in 16 MiB.
template <bool WRITES>
__global__ void strided(unsigned *p, int stride, int rounds, unsigned *out)
{
    const unsigned mask = (1u << 22) - 1, thread = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    unsigned sum = 0;
#pragma unroll 8
    for (int k = 0; k < rounds; k++) {
        unsigned *at = p + (((thread + k * all) * stride) & mask);
        if (WRITES)
            *at = k;
        else
            sum += __ldcg(at);
    }
    if (!WRITES && sum == 1)
        *out = sum;
}

// "atomics": all lanes at one address, at the words of a line, at any of 2^20 words.
template <class T>
__global__ void add(T *p, int rounds, int where)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++)
        atomicAdd(p + (where == 0 ? 0 : where == 1 ? thread % 32 : ((thread + k * 40503u * 977u) * 2654435761u >> 12)), T(1));
}

template <class T>
static void atomics(const char *name)
{
    const double lanes = sms * 2048.0;
    T *p = reinterpret_cast<T *>(to);
    printf("atomics, ns a lane, %s: one address %.4f, one line %.4f, spread %.5f\n", name,
           time_of([&] { add<<<sms * 2, 1024>>>(p, 4, 0); }, false) / lanes / 4,
           time_of([&] { add<<<sms * 2, 1024>>>(p, 8, 1); }, false) / lanes / 8,
           time_of([&] { add<<<sms * 2, 1024>>>(p, 64, 2); }, false) / lanes / 64);
}

__global__ void meet(int rounds)
{
    for (int i = 0; i < rounds; i++)
        __syncthreads();
}

__global__ void nothing() {}

// "local": an array of N words for each thread, indexed at run time.
template <int N, bool LOADS, bool STORES>
__global__ void local(int rounds, unsigned *out)
{
    volatile unsigned a[N];
    unsigned sum = 0, at = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        at = (at + 1) & (N - 1);
        if (LOADS)
            sum += a[at];
        if (STORES)
            a[at] = k;
    }
    if (sum == 1)
        *out = sum + a[at];
}

// "fields": structs of K words, which warps store word by word.
template <int K>
__global__ void fields(unsigned *p)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
    for (int k = 0; k < K; k++)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(p + size_t(i) * K + k), "r"(i));
}

template <int K>
static void store_fields(unsigned *p)
{
    const size_t structs = WHOLE / 2 / 4 / K / 256 * 256;
    printf(" %d %.0f;", K, 4.0 * K * structs / time_of([&] { fields<K><<<unsigned(structs / 256), 256>>>(p); }));
}

// "shared atomics": lanes at `words` words, `step` words apart.
__global__ void add_shared(int words, int step, int rounds, unsigned *out)
{
    __shared__ unsigned a[1024];
    a[threadIdx.x] = 0;
    __syncthreads();
    unsigned *at = a + threadIdx.x % words * step;
#pragma unroll 4
    for (int k = 0; k < rounds; k++)
        atomicAdd(at, 1);
    __syncthreads();
    if (a[threadIdx.x] == 12345678)
        *out = 1;
}

// "code": a loop of N multiply-adds in eight chains, with 16 bytes of machine code each.
template <int N>
__global__ void code(int rounds, float *out)
{
    float v[8];
    for (int c = 0; c < 8; c++)
        v[c] = threadIdx.x + c;
#pragma unroll 1
    for (int k = 0; k < rounds; k++)
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i % 8] = v[i % 8] * 0.5f + float(i);
    float sum = 0;
    for (int c = 0; c < 8; c++)
        sum += v[c];
    if (sum == 1)
        *out = sum;
}

template <int N>
static void run_code(float *out)
{
    printf(" %d KiB", N * 16 / 1024);
    for (int warps : {4, 8, 16, 32}) {
        const int rounds = (1 << 21) / N;
        printf(" %.2f", time_of([&] { code<N><<<sms, 32 * warps>>>(rounds, out); }, false) * clocks_a_ns * 4 /
                            (double(N) * rounds * warps));
    }
    printf(";");
}

// "turnaround": blocks that do nothing for this long.
__global__ void spin(int clocks)
{
    const long long begin = clock64();
    while (clock64() - begin < clocks)
        ;
}

// "sizes": each thread writes one vector.
__global__ void write_one(Words *q)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    q[i] = make_uint4(1, 2, 3, unsigned(i));
}

// "gather": words at random addresses, 8 in flight for each thread.
template <int HOW>
__global__ void gather(const unsigned *p, unsigned mask, unsigned *out)
{
    unsigned sum = 0, at[8];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        unsigned x = ((k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x) * 2654435761u;
        x = (x ^ x >> 15) * 2246822519u;
        at[k] = (x ^ x >> 13) & mask;
    }
#pragma unroll
    for (int k = 0; k < 8 && HOW == 3; k++)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(p + at[k]));
#pragma unroll
    for (int k = 0; k < 8; k++) {
        unsigned v;
        if (HOW == 1)
            asm volatile("ld.global.nc.L1::no_allocate.u32 %0,[%1];" : "=r"(v) : "l"(p + at[k]));
        else if (HOW == 2)
            asm volatile("ld.global.nc.L2::256B.u32 %0,[%1];" : "=r"(v) : "l"(p + at[k]));
        else
            asm volatile("ld.global.nc.u32 %0,[%1];" : "=r"(v) : "l"(p + at[k]));
        sum += v;
    }
    if (sum == 1)
        *out = sum;
}

int main()
{
    start();
    unsigned *words = reinterpret_cast<unsigned *>(from);
    printf("flight, to an SM, GB/s read and copied:");
    flight<1>(256, 1), flight<1>(256, 2), flight<1>(256, 4), flight<1>(256, 8), flight<4>(256, 4), flight<4>(256, 8);
    printf("\noneshot, the same:");
    flight<1>(256, 0), flight<1>(1024, 0), flight<4>(256, 0), flight<8>(256, 0);
    printf("\nruns of bytes, GB/s read and written:");
    for (int bytes = 32; bytes <= 4096; bytes *= 2) {
        const int shift = __builtin_ctz(bytes / 16), grid = int(PART / 16 / 8 / 256);
        const unsigned mask = unsigned(WHOLE / bytes - 1);
        printf(" %d %.0f %.0f;", bytes, PART / time_of([&] { runs<false><<<grid, 256>>>(from, shift, mask, out); }),
               PART / time_of([&] { runs<true><<<grid, 256>>>(from, shift, mask, out); }));
    }
    const int grid = int(PART / 16 / 256);
    printf("\nhint, GB/s copied: none %.0f, streaming %.0f, no_allocate %.0f, wide %.0f\n",
           2 * PART / time_of([&] { copy_hinted<0><<<grid, 256>>>(from, to); }),
           2 * PART / time_of([&] { copy_hinted<1><<<grid, 256>>>(from, to); }),
           2 * PART / time_of([&] { copy_hinted<2><<<grid, 256>>>(from, to); }),
           2 * PART / time_of([&] { copy_hinted<3><<<grid, 256>>>(from, to); }));
    printf("l2 sectors a ns by words between lanes, read and written:");
    for (int stride = 1; stride <= 32; stride *= 2) {
        const double sectors = sms * 2048.0 * 64 * std::min(stride, 8) / 8;
        printf(" %d %.1f %.1f;", stride,
               sectors / time_of([&] { strided<false><<<sms * 2, 1024>>>(words, stride, 64, out); }, false),
               sectors / time_of([&] { strided<true><<<sms * 2, 1024>>>(words, stride, 64, out); }, false));
    }
    printf("\n");
    atomics<unsigned>("u32"), atomics<float>("f32"), atomics<double>("f64");
    printf("barrier, clocks, SM full of blocks of threads:");
    for (int threads : {64, 256, 1024})
        printf(" %d %.1f;", threads,
               time_of([&] { meet<<<sms * (2048 / threads), threads>>>(2000); }, false) * clocks_a_ns / 2000);
    printf("\nblocks of threads, ns each:");
    for (int threads : {32, 256, 1024})
        printf(" %d %.4f;", threads, time_of([&] { nothing<<<1 << 20, threads>>>(); }, false) / (1 << 20));
    const double each = clocks_a_ns / 64 / 256; // 64 warps on each SM and 256 rounds
    printf("\nlocal, clocks a warp's access on a full SM: words 16, load %.1f, store %.1f; words 128, load %.1f, store %.1f\n",
           time_of([&] { local<16, true, false><<<sms * 8, 256>>>(256, out); }, false) * each,
           time_of([&] { local<16, false, true><<<sms * 8, 256>>>(256, out); }, false) * each,
           time_of([&] { local<128, true, false><<<sms * 8, 256>>>(256, out); }, false) * each,
           time_of([&] { local<128, false, true><<<sms * 8, 256>>>(256, out); }, false) * each);
    printf("fields, GB/s stored by words of a struct:");
    unsigned *targets = reinterpret_cast<unsigned *>(to);
    store_fields<2>(targets), store_fields<3>(targets), store_fields<4>(targets), store_fields<6>(targets);
    store_fields<8>(targets), store_fields<16>(targets);
    printf("\nshared atomics, clocks a warp's on a full SM, by words, 1 and 32 apart:");
    for (int count : {1, 2, 4, 8, 16, 32})
        printf(" %d %.2f %.2f;", count,
               time_of([&] { add_shared<<<sms * 2, 1024>>>(count, 1, 256, out); }, false) * each,
               time_of([&] { add_shared<<<sms * 2, 1024>>>(count, 32, 256, out); }, false) * each);
    printf("\ncode, clocks an instruction of a scheduler, by warps 4, 8, 16, 32 an SM:");
    float *floats = reinterpret_cast<float *>(other);
    run_code<256>(floats), run_code<1024>(floats), run_code<2048>(floats), run_code<4096>(floats);
    run_code<8192>(floats), run_code<16384>(floats);
    printf("\nturnaround, clocks between two blocks of threads:");
    for (int threads : {128, 256, 512, 1024}) {
        const int waves = sms * (2048 / threads);
        const double more = time_of([&] { spin<<<waves * 32, threads>>>(3000); }, false) -
                            time_of([&] { spin<<<waves * 8, threads>>>(3000); }, false);
        printf(" %d %.0f;", threads, more * clocks_a_ns / 24 - 3000);
    }
    printf("\nsizes, us by MiB that are read, written, copied:");
    for (int mib : {1, 4, 16, 64, 256}) {
        const size_t n = (size_t(mib) << 20) / 16;
        printf(" %d %.2f %.2f %.2f;", mib,
               time_of([&] { read_some<4><<<unsigned(n / 1024), 256>>>(from, n, out); }) / 1e3,
               time_of([&] { write_one<<<unsigned(n / 256), 256>>>(to); }) / 1e3,
               time_of([&] { copy_some<1><<<unsigned(n / 256), 256>>>(from, to, n); }) / 1e3);
    }
    printf("\ngather, ps a word by MiB: plain, no_allocate, wide, prefetched:");
    for (int mib : {16, 64, 512}) {
        const unsigned mask = unsigned((size_t(mib) << 20) / 4 - 1), blocks = (1 << 24) / 256 / 8;
        const double a_word = 1000.0 / (1 << 24);
        printf(" %d %.1f %.1f %.1f %.1f;", mib, time_of([&] { gather<0><<<blocks, 256>>>(words, mask, out); }) * a_word,
               time_of([&] { gather<1><<<blocks, 256>>>(words, mask, out); }) * a_word,
               time_of([&] { gather<2><<<blocks, 256>>>(words, mask, out); }) * a_word,
               time_of([&] { gather<3><<<blocks, 256>>>(words, mask, out); }) * a_word);
    }
    printf("\n");
    return 0;
}
