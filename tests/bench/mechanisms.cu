// Measures mechanisms that involve several units of a GPU, each with a kernel that does nothing
// else. tuner/sim/chip.c, model.c and profile.c name the table that gives a figure.
//
//   nvcc -O2 -std=c++17 -arch=native -o mechanisms mechanisms.cu && ./mechanisms [NAME...]
//
// Prints a table for each mechanism, or for those with these names. Times are as in microbenchmarks.cu.
#include <cmath>
#include <cstring>

#include "microbenchmarks.cuh"

enum Hint { NONE, STREAMING, NO_ALLOCATE, WIDE, WIDE_NO_ALLOCATE, L2_ONLY, NOTHING };
static const char *const hint_names[] = {"none", "streaming", "no_allocate", "wide", "wide no_allocate", "cg", "nothing"};

#define LOAD_WORD(operation) asm volatile(operation ".u32 %0,[%1];" : "=r"(v) : "l"(p))
#define LOAD_WORDS(operation)                                                                                          \
    asm volatile(operation ".v4.u32 {%0,%1,%2,%3},[%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p))
#define LOAD_BY(form)                                                                                                  \
    if constexpr (HINT == NONE)                                                                                        \
        form("ld.global.nc");                                                                                          \
    else if constexpr (HINT == STREAMING)                                                                              \
        form("ld.global.cs");                                                                                          \
    else if constexpr (HINT == NO_ALLOCATE)                                                                            \
        form("ld.global.nc.L1::no_allocate");                                                                          \
    else if constexpr (HINT == WIDE)                                                                                   \
        form("ld.global.nc.L2::256B");                                                                                 \
    else if constexpr (HINT == WIDE_NO_ALLOCATE)                                                                       \
        form("ld.global.nc.L1::no_allocate.L2::256B");                                                                 \
    else                                                                                                               \
        form("ld.global.cg")

template <int HINT>
__device__ unsigned load(const unsigned *p)
{
    unsigned v;
    LOAD_BY(LOAD_WORD);
    return v;
}

template <int HINT>
__device__ Words load(const Words *p)
{
    Words v;
    LOAD_BY(LOAD_WORDS);
    return v;
}

__device__ unsigned mixed(unsigned x)
{
    x *= 2654435761u;
    x = (x ^ x >> 15) * 2246822519u;
    return x ^ x >> 13;
}

// "beside": words of a table at random addresses, in runs of 2^shift words, beside a stream of 256
// MiB that gives the addresses.
template <int STREAM, int TABLE>
__global__ void beside(const unsigned *stream, const unsigned *table, unsigned mask, int shift, unsigned *out)
{
    unsigned sum = 0, at[8];
    const unsigned first = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 8; k++) {
        at[k] = first + k * blockDim.x;
        if constexpr (STREAM < NOTHING)
            at[k] += load<STREAM>(stream + at[k]) == 77;
    }
#pragma unroll
    for (unsigned k = 0; k < 8; k++) {
        const unsigned word = mixed(at[k] >> shift) << shift | (at[k] & ((1u << shift) - 1));
        sum += load<TABLE>(table + (word & mask));
    }
    if (sum == 1)
        *out = sum;
}

template <int STREAM, int TABLE>
static void run_beside(int shift)
{
    const int words = 1 << 26;
    printf("stream %-16s table %-16s runs of %3d bytes:", hint_names[STREAM], hint_names[TABLE], 4 << shift);
    for (int mib : {1, 4, 16, 24, 32, 64}) {
        const unsigned *stream = reinterpret_cast<unsigned *>(from), *table = reinterpret_cast<unsigned *>(to);
        const double ns = time_of([&] {
            beside<STREAM, TABLE><<<words / 256 / 8, 256>>>(stream, table, (unsigned(mib) << 18) - 1, shift, out);
        });
        printf(" %7.2f", 1e3 * ns / words);
    }
    printf("\n");
}

static void beside_all()
{
    printf("ps a word, by MiB of the table: 1 4 16 24 32 64\n");
    for (int shift : {0, 3, 6}) {
        run_beside<NOTHING, NONE>(shift), run_beside<NOTHING, WIDE>(shift), run_beside<NOTHING, WIDE_NO_ALLOCATE>(shift);
        run_beside<NOTHING, NO_ALLOCATE>(shift), run_beside<NOTHING, STREAMING>(shift), run_beside<NONE, NONE>(shift);
        run_beside<WIDE_NO_ALLOCATE, NONE>(shift), run_beside<NONE, WIDE>(shift), run_beside<NONE, WIDE_NO_ALLOCATE>(shift);
        run_beside<WIDE_NO_ALLOCATE, WIDE_NO_ALLOCATE>(shift), run_beside<STREAMING, NONE>(shift);
        run_beside<NO_ALLOCATE, NONE>(shift), run_beside<NONE, NO_ALLOCATE>(shift), run_beside<NONE, STREAMING>(shift);
        run_beside<STREAMING, STREAMING>(shift), run_beside<STREAMING, WIDE_NO_ALLOCATE>(shift);
    }
}

// "stores": loads with a hint while stores are in flight. Each thread writes UNROLL vectors, and
// reads READS vectors for each.
enum Store { PLAIN, CS, WT, NO_STORE };

template <int UNROLL, int READS, int LOAD, int STORE>
__global__ void copy(const Words *p, Words *q, size_t n)
{
    const size_t first = blockIdx.x * size_t(blockDim.x) * UNROLL + threadIdx.x;
    Words v[UNROLL * READS];
#pragma unroll
    for (int u = 0; u < UNROLL * READS; u++)
        v[u] = load<LOAD>(p + u / UNROLL * n + first + u % UNROLL * blockDim.x);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        Words sum = v[u], *to = q + first + u * blockDim.x;
#pragma unroll
        for (int r = 1; r < READS; r++)
            sum.x ^= v[r * UNROLL + u].x;
        if (STORE == PLAIN || (STORE == NO_STORE && sum.x == 1 && sum.y == 7))
            *to = sum;
        else if (STORE == CS)
            __stcs(to, sum);
        else if (STORE == WT)
            __stwt(to, sum);
    }
}

template <int UNROLL, int READS, int LOAD, int STORE>
static double copy_ns(int threads)
{
    const size_t n = PART / 16 / READS;
    return time_of([&] { copy<UNROLL, READS, LOAD, STORE><<<unsigned(n / threads / UNROLL), threads>>>(from, to, n); }, true, 15);
}

template <int UNROLL, int READS>
static void copy_row(int threads)
{
    int resident;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, copy<UNROLL, READS, NONE, PLAIN>, threads, 0));
    const double plain = copy_ns<UNROLL, READS, NONE, PLAIN>(threads), reads = copy_ns<UNROLL, READS, NONE, NO_STORE>(threads);
    printf("%2d %4d %4d %7.1f  %.3f %.3f %.3f %.3f %.3f  %.3f %.3f %.3f  %7.1f  %.3f %.3f %.3f\n", READS, threads,
           resident * threads * UNROLL * READS * 16 / 1024, plain / 1e3, copy_ns<UNROLL, READS, STREAMING, PLAIN>(threads) / plain,
           copy_ns<UNROLL, READS, NO_ALLOCATE, PLAIN>(threads) / plain, copy_ns<UNROLL, READS, WIDE, PLAIN>(threads) / plain,
           copy_ns<UNROLL, READS, WIDE_NO_ALLOCATE, PLAIN>(threads) / plain, copy_ns<UNROLL, READS, L2_ONLY, PLAIN>(threads) / plain,
           copy_ns<UNROLL, READS, NONE, CS>(threads) / plain, copy_ns<UNROLL, READS, NONE, WT>(threads) / plain,
           copy_ns<UNROLL, READS, STREAMING, CS>(threads) / plain, reads / 1e3,
           copy_ns<UNROLL, READS, STREAMING, NO_STORE>(threads) / reads, copy_ns<UNROLL, READS, NO_ALLOCATE, NO_STORE>(threads) / reads,
           copy_ns<UNROLL, READS, WIDE_NO_ALLOCATE, NO_STORE>(threads) / reads);
}

static void stores()
{
    printf("vectors read for each written, threads, KiB in flight to an SM, us; times that relative to loads by streaming, "
           "no_allocate, wide, wide no_allocate, cg; to stores by cs, wt; to both streaming and cs; us of the reads alone, and "
           "that relative to streaming, no_allocate, wide no_allocate\n");
    copy_row<1, 1>(256), copy_row<1, 1>(1024), copy_row<2, 1>(256), copy_row<4, 1>(256), copy_row<8, 1>(256);
    copy_row<1, 2>(256), copy_row<1, 4>(256), copy_row<1, 8>(256), copy_row<1, 16>(256), copy_row<4, 4>(256);
}

// "constant": lanes at `ways` different words, `apart` words from each other.
__constant__ unsigned constants[8192];

__global__ void read_constants(int ways, int apart, int span, int rounds, unsigned *out)
{
    unsigned at = threadIdx.x % ways * apart, sum = 0;
#pragma unroll 4
    for (int k = 0; k < rounds; k++)
        sum += constants[at + (k & span)];
    if (sum == 1)
        *out = sum;
}

static void constant()
{
    printf("clocks a request of an SM by different words 1 2 3 4 6 8 12 16 24 32 of a warp\n");
    for (int warps : {1, 4, 16, 64})
        for (int apart : {1, 16})
            for (int span : {7, 511, 4095}) {
                printf("%2d warps an SM, words %2d apart, in turn %4d:", warps, apart, span + 1);
                for (int ways : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
                    const auto run = [&](int rounds) {
                        return time_of([&] {
                            read_constants<<<sms * (warps > 32 ? 2 : 1), 32 * std::min(warps, 32)>>>(ways, apart, span, rounds, out);
                        }, false);
                    };
                    printf(" %6.2f", (run(2304) - run(256)) * clocks_a_ns / 2048 / warps);
                }
                printf("\n");
            }
}

// "l1 of blocks": one thread of each block reads a word of each line of a table. It does this twice.
__global__ void read_lines(const unsigned *table, int lines, float *clocks)
{
    extern __shared__ unsigned unused[];
    for (int turn = 0; turn < 2 && threadIdx.x == 0; turn++) {
        const long long begin = clock64();
        unsigned at = 0;
        for (int i = 0; i < lines; i++)
            at = __ldca(table + i * 32 + at);
        clocks[blockIdx.x * 2 + turn] = at ? 0 : float(clock64() - begin) / lines;
    }
    __syncthreads();
}

static void l1_of_blocks()
{
    CHECK(cudaFuncSetAttribute(read_lines, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    CHECK(cudaMemset(to, 0, 1 << 20));
    printf("clocks a load by KiB of a table: blocks of the first wave, the same again, later blocks, the same again\n");
    for (int kib : {100, 50, 8}) {
        int resident;
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, read_lines, 256, kib << 10));
        printf("%d blocks an SM with %d KiB:", resident, kib);
        for (int table : {4, 16, 64, 128, 192, 256}) {
            const int wave = resident * sms, blocks = wave * 6;
            float *clocks = reinterpret_cast<float *>(other);
            sum_all<<<sms * 8, 256>>>(from, PART / 16, out);
            read_lines<<<blocks, 256, kib << 10>>>(reinterpret_cast<unsigned *>(to), table * 8, clocks);
            std::vector<float> found(blocks * 2);
            CHECK(cudaMemcpy(found.data(), clocks, found.size() * 4, cudaMemcpyDeviceToHost));
            double sums[4] = {0};
            for (int i = 0; i < blocks * 2; i++)
                sums[i / 2 < wave ? i % 2 : 2 + i % 2] += found[i];
            printf("  %d: %.0f %.0f %.0f %.0f", table, sums[0] / wave, sums[1] / wave, sums[2] / wave / 5, sums[3] / wave / 5);
        }
        printf("\n");
    }
}

// "l1 lines": a thread loads 64 lines with a hint, other lines without one, and the 64 lines again.
template <int HINT>
__global__ void evict(const unsigned *table, int others, float *clocks)
{
    unsigned at = 0;
    for (int i = 0; i < 64; i++)
        at = load<HINT>(table + i * 32 + at);
    for (int i = 64; i < 64 + others; i++)
        at = load<NONE>(table + i * 32 + at);
    const long long begin = clock64();
    for (int i = 0; i < 64; i++)
        at = load<NONE>(table + i * 32 + at);
    *clocks = at ? 0 : float(clock64() - begin) / 64;
}

template <int HINT>
static void run_evict()
{
    printf("%-16s", hint_names[HINT]);
    for (int others : {0, 16, 32, 64, 128, 256, 512, 1024, 1536, 1728, 2048}) {
        float clocks;
        for (int i = 0; i < 2; i++)
            evict<HINT><<<1, 1>>>(reinterpret_cast<unsigned *>(to), others, reinterpret_cast<float *>(other));
        CHECK(cudaMemcpy(&clocks, other, 4, cudaMemcpyDeviceToHost));
        printf(" %5.0f", clocks);
    }
    printf("\n");
}

static void l1_lines()
{
    CHECK(cudaMemset(to, 0, 1 << 20));
    printf("clocks a load of 64 lines, by lines loaded in between: 0 16 32 64 128 256 512 1024 1536 1728 2048\n");
    run_evict<NONE>(), run_evict<STREAMING>(), run_evict<NO_ALLOCATE>(), run_evict<WIDE>(), run_evict<WIDE_NO_ALLOCATE>();
    run_evict<L2_ONLY>();
}

// "atomics": `lines` lines of 32 words begin `step` words from each other. Each lane adds to a random
// word of a random line. With `whole`, the lanes of a warp add to the words of one random line.
template <class T>
__global__ void add_to(T *p, int lines, int step, int rounds, bool whole)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        const unsigned x = mixed(k * 1000003u + (whole ? thread / 32 : thread)) & (lines * 32 - 1);
        atomicAdd(p + size_t(x / 32) * step + (whole ? thread : x) % 32, T(1));
    }
}

template <class T>
static void run_atomics(const char *name)
{
    T *p = reinterpret_cast<T *>(to);
    CHECK(cudaMemset(to, 0, WHOLE));
    for (bool whole : {false, true})
        for (int bytes : {128, 256, 512, 4096, 32768}) {
            printf("%s, %s, lines %5d bytes apart:", name, whole ? "a line for each warp" : "random words        ", bytes);
            for (int lines : {1, 2, 4, 8, 16, 32, 64, 256, 1024, 4096}) {
                const int rounds = lines <= 4 ? 4 : 16;
                printf(" %7.3f", time_of([&] { add_to<<<sms * 2, 1024>>>(p, lines, int(bytes / sizeof(T)), rounds, whole); }, false) /
                                     (sms * 64.0 * rounds));
            }
            printf("\n");
        }
}

static void atomics()
{
    printf("ns for each warp's atomic by lines 1 2 4 8 16 32 64 256 1024 4096\n");
    run_atomics<unsigned>("u32"), run_atomics<float>("f32");
}

// "overlap": an atomic of each warp, and loads from 8 MiB in the L2.
__global__ void add_beside(float *p, int where, const Words *table, int adds, int loads, unsigned *out)
{
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned sum = 0;
    for (int k = 0; k < 32; k++) {
        const unsigned x = mixed(k * 1000003u + warp);
        if (adds && (where > 0 || lane == 0))
            atomicAdd(p + (where == 0 ? 0 : where == 1 ? lane : (x & 0xffff) * 32 + lane), 1.0f);
#pragma unroll 4
        for (int i = 0; i < loads; i++)
            sum ^= load<L2_ONLY>(table + (((x + i * 7919u) & 0x3fff) * 32 + lane)).x;
    }
    if (sum == 1)
        *out = sum;
}

static void overlap()
{
    printf("us of atomics alone, loads from the L2 alone, both; by loads 4 8 16 32 64 for each atomic\n");
    for (int where : {0, 1, 2}) {
        printf("%-14s", where == 0 ? "one address" : where == 1 ? "one line" : "any line");
        for (int loads : {4, 8, 16, 32, 64}) {
            const auto run = [&](int adds, int reads) {
                return time_of([&] {
                    add_beside<<<sms * 2, 1024>>>(reinterpret_cast<float *>(to), where, from, adds, reads, out);
                }, false) / 1e3;
            };
            printf("  %6.1f %6.1f %6.1f", run(1, 0), run(0, loads), run(1, loads));
        }
        printf("\n");
    }
}

// "pieces": records of APART bytes, which threads store in pieces of BYTES.
template <int BYTES, int APART>
__global__ void store_pieces(char *p)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < APART; k += BYTES) {
        char *at = p + i * APART + k;
        if (BYTES == 4)
            asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(k) : "memory");
        else if (BYTES == 8)
            asm volatile("st.global.v2.u32 [%0], {%1,%1};" ::"l"(at), "r"(k) : "memory");
        else
            asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(at), "r"(k) : "memory");
    }
}

template <int BYTES, int APART>
static void run_pieces()
{
    for (size_t moved : {PART / 16, PART}) {
        printf("%2d bytes, %3d apart, %3zu MiB:", BYTES, APART, moved >> 20);
        for (int threads : {32, 64, 128, 256, 512, 1024})
            printf(" %5.0f", moved / time_of([&] {
                       store_pieces<BYTES, APART><<<unsigned(moved / APART / threads), threads>>>(reinterpret_cast<char *>(to));
                   }));
        printf("\n");
    }
}

static void pieces()
{
    printf("GB/s stored, by threads of a block: 32 64 128 256 512 1024\n");
    run_pieces<16, 16>(), run_pieces<16, 32>(), run_pieces<16, 64>(), run_pieces<16, 128>();
    run_pieces<8, 16>(), run_pieces<8, 32>(), run_pieces<8, 64>();
    run_pieces<4, 8>(), run_pieces<4, 12>(), run_pieces<4, 16>(), run_pieces<4, 20>(), run_pieces<4, 24>(), run_pieces<4, 32>();
}

// "waves": blocks of 256 threads, 8 on each SM, that read or copy LOOPS * 16 KiB,
// load one word after another, or multiply.
template <int LOOPS, bool WRITES>
__global__ void __launch_bounds__(256, 8) move(const Words *p, Words *q, unsigned *out)
{
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < LOOPS; k++) {
        const size_t i = (blockIdx.x * size_t(LOOPS) + k) * 1024 + threadIdx.x;
        Words v[4];
#pragma unroll
        for (int u = 0; u < 4; u++)
            v[u] = load<NONE>(p + i + u * 256);
#pragma unroll
        for (int u = 0; u < 4; u++)
            if (WRITES)
                q[i + u * 256] = v[u];
            else
                sum += v[u].x ^ v[u].w;
    }
    if (sum == 1)
        *out = sum;
}

__global__ void __launch_bounds__(256, 8) multiply(int rounds, unsigned *out)
{
    float v[4] = {1.0f, 2.0f, 3.0f, float(threadIdx.x)};
#pragma unroll 8
    for (int k = 0; k < rounds; k++)
        for (float &x : v)
            x = x * 0.5f + 1.0f;
    if (v[0] + v[1] + v[2] + v[3] == 1)
        *out = 1;
}

__global__ void __launch_bounds__(256, 8) follow(const unsigned *p, int rounds, unsigned *out)
{
    unsigned at = 0;
    for (int k = 0; k < rounds; k++)
        at = load<NONE>(p + (mixed((blockIdx.x * 8 + threadIdx.x / 32) * 64 + k) & 0xfffffff) + (at == 77));
    if (at == 78)
        *out = 1;
}

static void waves()
{
    const auto row = [](const char *name, auto launch) {
        printf("%-18s", name);
        for (double n : {0.25, 0.5, 0.75, 1.0, 1.125, 1.25, 1.5, 1.75, 2.0, 2.125, 2.25, 2.5, 3.0, 3.25, 4.0, 4.25, 5.0, 6.25, 8.0, 8.25})
            printf(" %6.2f", time_of([&] { launch(unsigned(n * 8 * sms)); }, true, 11) / 1e3);
        printf("\n");
    };
    printf("us by waves 0.25 0.5 0.75 1 1.125 1.25 1.5 1.75 2 2.125 2.25 2.5 3 3.25 4 4.25 5 6.25 8 8.25\n");
    row("read 16 KiB", [](unsigned blocks) { move<1, false><<<blocks, 256>>>(from, to, out); });
    row("read 64 KiB", [](unsigned blocks) { move<4, false><<<blocks, 256>>>(from, to, out); });
    row("read 96 KiB", [](unsigned blocks) { move<6, false><<<blocks, 256>>>(from, to, out); });
    row("copy 16 KiB", [](unsigned blocks) { move<1, true><<<blocks, 256>>>(from, to, out); });
    row("copy 64 KiB", [](unsigned blocks) { move<4, true><<<blocks, 256>>>(from, to, out); });
    row("8 loads in turn", [](unsigned blocks) { follow<<<blocks, 256>>>(reinterpret_cast<unsigned *>(from), 8, out); });
    row("64 loads in turn", [](unsigned blocks) { follow<<<blocks, 256>>>(reinterpret_cast<unsigned *>(from), 64, out); });
    row("multiply 512", [](unsigned blocks) { multiply<<<blocks, 256>>>(512, out); });
    row("multiply 4096", [](unsigned blocks) { multiply<<<blocks, 256>>>(4096, out); });
}

// "loops": the same data, read by resident blocks that loop, and by a block for each 16 KiB.
template <int LOOPS>
static void run_loops()
{
    const unsigned blocks = 8 * sms;
    printf(" %d %.3f %.3f;", LOOPS,
           time_of([&] { move<LOOPS, false><<<blocks, 256>>>(from, to, out); }, true, 11) /
               time_of([&] { move<1, false><<<blocks * LOOPS, 256>>>(from, to, out); }, true, 11),
           time_of([&] { move<LOOPS, true><<<blocks, 256>>>(from, to, out); }, true, 11) /
               time_of([&] { move<1, true><<<blocks * LOOPS, 256>>>(from, to, out); }, true, 11));
}

static void loops()
{
    printf("loops of resident blocks: time relative to short blocks, read, copied:");
    run_loops<1>(), run_loops<2>(), run_loops<3>(), run_loops<4>(), run_loops<8>(), run_loops<16>(), run_loops<32>();
    printf("\n");
}

// "marches": blocks of 32 * 8 threads, 8 on each SM, go through planes of 512 * 512 words. A thread
// reads a word of its column. With a halo, it also reads the four words above and the four below in
// the plane: from the neighbouring blocks (SHARED_HALO), or from the block's own copy (OWN_HALO).
enum Halo { NO_HALO, SHARED_HALO, OWN_HALO };
static const int MARCH_PLANES = 256, MARCH_BLOCKS = 1024; // blocks of a plane

__device__ unsigned long long nanoseconds()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
    return t;
}

template <int HALO>
__global__ void __launch_bounds__(256, 8) march(const float *u, float *v, int depth, unsigned long long *ends)
{
    const int block = blockIdx.y * 16 + blockIdx.x, z0 = blockIdx.z * depth;
    const int plane = HALO == OWN_HALO ? MARCH_BLOCKS * 16 * 32 : 520 * 512, row = HALO == OWN_HALO ? 32 : 512;
    const int place = HALO == OWN_HALO ? (block * 16 + threadIdx.y + 4) * 32 + threadIdx.x
                                       : (blockIdx.y * 8 + threadIdx.y + 4) * 512 + blockIdx.x * 32 + threadIdx.x;
    const float *p = u + size_t(z0) * plane + place;
    float *q = v + size_t(z0) * 512 * 512 + (blockIdx.y * 8 + threadIdx.y) * 512 + blockIdx.x * 32 + threadIdx.x;
#pragma unroll 1
    for (int z = 0; z < depth; z++, p += plane, q += 512 * 512) {
        float sum = p[0];
        for (int i = 1; HALO != NO_HALO && i <= 4; i++)
            sum += p[i * row] + p[-i * row];
        *q = sum;
    }
    if (ends && threadIdx.x + threadIdx.y == 0)
        ends[blockIdx.z * MARCH_BLOCKS + block] = nanoseconds();
}

template <int HALO>
static void march_by_depth(const char *name)
{
    unsigned long long *ends = reinterpret_cast<unsigned long long *>(other);
    printf("%-12s", name);
    for (int depth : {4, 16, 64, 256}) {
        const dim3 grid(16, MARCH_BLOCKS / 16, MARCH_PLANES / depth), block(32, 8);
        const size_t count = size_t(MARCH_BLOCKS) * grid.z;
        const float *u = reinterpret_cast<float *>(from);
        float *v = reinterpret_cast<float *>(to);
        const double us = time_of([&] { march<HALO><<<grid, block>>>(u, v, depth, nullptr); }, true, 11) / 1e3;
        std::vector<unsigned long long> at(count);
        march<HALO><<<grid, block>>>(u, v, depth, ends);
        CHECK(cudaMemcpy(at.data(), ends, count * sizeof at[0], cudaMemcpyDeviceToHost));
        std::sort(at.begin(), at.end());
        const auto before_last = [&](double share) { return (at.back() - at[size_t(share * double(count - 1))]) / 1e3; };
        printf(" | %3d: %7.1f; %6.1f %6.1f %6.1f", depth, us, before_last(0), before_last(0.1), before_last(0.5));
    }
    printf("\n");
}

static void marches()
{
    printf("by planes of a block: us; us from the end of the first block, the first tenth, and half of the blocks to the last\n");
    march_by_depth<NO_HALO>("no halo");
    march_by_depth<SHARED_HALO>("shared halo");
    march_by_depth<OWN_HALO>("own halo");
}

// "windows": each thread reads ITEMS random words of a table of 64 MiB. With 1 << shift windows, it
// goes through the table window by window; with `alone`, all words are in the first window.
template <int ITEMS>
__global__ void __launch_bounds__(256, 4) by_windows(const unsigned *table, int shift, bool alone, unsigned *out)
{
    const int bits = 24 - shift;
    unsigned at[ITEMS], sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const unsigned i = mixed((blockIdx.x * ITEMS + k) * 256 + threadIdx.x) & 0xffffff;
        at[k] = alone ? i & ((1u << bits) - 1) : i;
    }
#pragma unroll 1
    for (unsigned w = 0; w < (alone ? 1u : 1u << shift); w++)
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            if (at[k] >> bits == w)
                sum += load<NONE>(table + at[k]);
    if (sum == 1)
        *out = sum;
}

static void windows()
{
    const unsigned *table = reinterpret_cast<unsigned *>(from);
    const auto row = [&](const char *name, bool alone, auto launch) {
        printf("%-28s", name);
        for (int shift = 0; shift <= 6; shift++)
            printf(" %6.1f", time_of([&] { launch(table, shift, alone); }) / 1e3);
        printf("\n");
    };
    const auto few = [](const unsigned *p, int shift, bool alone) { by_windows<8><<<8192, 256>>>(p, shift, alone, out); };
    const auto many = [](const unsigned *p, int shift, bool alone) { by_windows<32><<<2048, 256>>>(p, shift, alone, out); };
    printf("us of 2^24 words by windows 1 2 4 8 16 32 64 of 64 MiB\n");
    row("8 of a thread, in turn", false, few);
    row("8 of a thread, one window", true, few);
    row("32 of a thread, in turn", false, many);
    row("32 of a thread, one window", true, many);
}

// "l1 passes": loads of words that the L1 has; SHAPE gives the word of each lane. The address depends
// on the round, so that the compiler keeps the loads in the loop.
enum Shape { ALIGNED, BY_1, BY_4, BY_8, HALVES_APART, HALVES_MEET, ROWS_MEET, ROWS_APART, LINES_8, LINES_16, LINES_32, RANDOM, SHAPES };
static const char *const shape_names[] = {
    "32 adjacent words of a line", "the same, 1 word further", "4 words further", "8 words further",
    "2 lines, other halves of the same sectors", "2 lines, same halves of the same sectors",
    "4 lines, 8 words at the same place", "4 lines, 8 words at other places", "8 lines, 4 words at other places",
    "16 lines, 2 words at other places", "32 lines, a word at other places", "random words of 8 KiB"};

__device__ unsigned word_of(int shape, unsigned lane)
{
    switch (shape) {
    case BY_1:
        return lane + 1;
    case BY_4:
        return lane + 4;
    case BY_8:
        return lane + 8;
    case HALVES_APART:
        return lane / 16 * 36 + lane % 16 / 4 * 8 + lane % 4;
    case HALVES_MEET:
        return lane / 16 * 32 + lane % 16 / 4 * 8 + lane % 4;
    case ROWS_MEET:
        return lane / 8 * 32 + lane % 8;
    case ROWS_APART:
        return lane / 8 * 32 + lane;
    case LINES_8:
        return lane / 4 * 32 + lane;
    case LINES_16:
        return lane / 2 * 32 + lane;
    case LINES_32:
        return lane * 32 + lane;
    case RANDOM:
        return mixed(lane + 1) & 2047;
    default:
        return lane;
    }
}

__global__ void __launch_bounds__(256, 8) l1_load(const unsigned *table, int shape, int rounds, unsigned *out)
{
    const unsigned *p = table + word_of(shape, threadIdx.x % 32);
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < rounds; k++)
#pragma unroll
        for (int u = 0; u < 8; u++) {
            unsigned v;
            asm volatile("ld.global.ca.u32 %0,[%1];" : "=r"(v) : "l"(p + (k & 3) * 2048 + u * 256));
            sum += v;
        }
    if (sum == 1)
        *out = sum;
}

static void l1_passes()
{
    printf("clocks a load of a warp on a full SM\n");
    for (int shape = 0; shape < SHAPES; shape++) {
        const auto time = [&](int rounds) {
            return time_of([&] { l1_load<<<8 * sms, 256>>>(reinterpret_cast<unsigned *>(from), shape, rounds, out); }, false);
        };
        printf("%-44s %6.2f\n", shape_names[shape], (time(512) - time(256)) * clocks_a_ns / (256 * 8 * 64));
    }
}

// "beside runs": runs of wide << shift vectors at random addresses; each block accesses 1 << shift
// vectors of a run, its neighbours the rest.
template <bool WRITES>
__global__ void shared_runs(Words *p, int shift, int wide, unsigned mask, unsigned *out)
{
    const unsigned each = 1u << shift, in_block = blockDim.x * 8u >> shift;
    Words v[8];
    unsigned sum = 0;
#pragma unroll
    for (unsigned u = 0; u < 8; u++) {
        const unsigned i = u * blockDim.x + threadIdx.x, row = blockIdx.x / wide * in_block + (i >> shift);
        Words *at = p + ((size_t((row * 2654435761u) & mask) * wide + blockIdx.x % wide) << shift) + (i & (each - 1));
        if (WRITES)
            *at = make_uint4(i, 1, 2, 3);
        else
            v[u] = load<NONE>(at);
    }
    for (int u = 0; u < 8 && !WRITES; u++)
        sum += v[u].x;
    if (!WRITES && sum == 1)
        *out = sum;
}

static void beside_runs()
{
    printf("GB/s read and written by blocks side by side 1 2 4 8 32 128\n");
    for (int bytes : {32, 64, 128, 256}) {
        printf("%3d bytes of a block:", bytes);
        for (int wide : {1, 2, 4, 8, 32, 128}) {
            const unsigned grid = PART / 16 / 8 / 256, mask = unsigned(WHOLE / bytes / wide - 1);
            const int shift = __builtin_ctz(bytes / 16);
            printf("  %4.0f %4.0f", PART / time_of([&] { shared_runs<false><<<grid, 256>>>(from, shift, wide, mask, out); }),
                   PART / time_of([&] { shared_runs<true><<<grid, 256>>>(from, shift, wide, mask, out); }));
        }
        printf("\n");
    }
}

// "base": empty blocks; a chain of loads, atomics, fences and barriers of one thread.
__global__ void empty() {}

template <int KIND>
__global__ void chain(unsigned *p, float *clocks)
{
    const long long begin = clock64();
    unsigned at = 0;
    for (int i = 0; i < 256; i++) {
        if (KIND == 0)
            at = load<L2_ONLY>(p + i % 32 * 1024 + at);
        else if (KIND == 1)
            at = atomicAdd(p + at, 0);
        else if (KIND == 2)
            at = load<L2_ONLY>(p + i * 98304 + at);
        else if (KIND == 3)
            __threadfence();
        else {
            p[i] = 0;
            __threadfence();
        }
    }
    *clocks = at ? 0 : float(clock64() - begin) / 256;
}

template <int KIND>
static float chain_clocks()
{
    float clocks;
    for (int i = 0; i < 2; i++) {
        if (KIND == 2) // evicts `to` from the L2
            sum_all<<<sms * 8, 256>>>(from, PART / 16, out);
        chain<KIND><<<1, 1>>>(reinterpret_cast<unsigned *>(to), reinterpret_cast<float *>(other));
    }
    CHECK(cudaMemcpy(&clocks, other, 4, cudaMemcpyDeviceToHost));
    return clocks;
}

static void base()
{
    CHECK(cudaMemset(to, 0, size_t(256) * 98304 * 4));
    printf("us of an empty kernel by blocks for each SM 1/132 1 8 32 128 512\n");
    for (int threads : {32, 256, 1024}) {
        printf("%4d threads:", threads);
        for (int blocks : {1, sms, 8 * sms, 32 * sms, 128 * sms, 512 * sms})
            printf(" %.2f", time_of([&] { empty<<<blocks, threads>>>(); }, false, 21) / 1e3);
        printf("\n");
    }
    printf("clocks of one after the other: load from the L2 %.0f, atomic %.0f, load from DRAM %.0f, fence %.0f, store and fence %.0f\n",
           chain_clocks<0>(), chain_clocks<1>(), chain_clocks<2>(), chain_clocks<3>(), chain_clocks<4>());
}

// "last": each block writes a number; then it takes a ticket; then the last block adds the numbers.
template <int PARTS>
__global__ void finish(float *numbers, unsigned *count)
{
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        numbers[blockIdx.x] = 1;
        if (PARTS > 0) {
            __threadfence();
            is_last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        }
    }
    __syncthreads();
    if (PARTS < 2 || !is_last)
        return;
    __shared__ float sums[256];
    float sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += 256)
        sum += __ldcg(numbers + i);
    sums[threadIdx.x] = sum;
    for (unsigned n = 128; n > 0; n /= 2) {
        __syncthreads();
        if (threadIdx.x < n)
            sums[threadIdx.x] += sums[threadIdx.x + n];
    }
    if (threadIdx.x == 0)
        numbers[gridDim.x] = sums[0];
}

static void last()
{
    CHECK(cudaMemset(to, 0, 1 << 20));
    printf("us by blocks: a store, with a ticket, with a last block;");
    for (int blocks : {1, 132, 264, 1056, 4224, 16896, 67584}) {
        float *numbers = reinterpret_cast<float *>(to) + 1024;
        unsigned *count = reinterpret_cast<unsigned *>(to);
        printf("  %d: %.2f %.2f %.2f", blocks, time_of([&] { finish<0><<<blocks, 256>>>(numbers, count); }, false, 21) / 1e3,
               time_of([&] { finish<1><<<blocks, 256>>>(numbers, count); }, false, 21) / 1e3,
               time_of([&] { finish<2><<<blocks, 256>>>(numbers, count); }, false, 21) / 1e3);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } all[] = {{"beside", beside_all}, {"stores", stores}, {"constant", constant}, {"l1 of blocks", l1_of_blocks},
               {"l1 lines", l1_lines}, {"l1 passes", l1_passes}, {"atomics", atomics}, {"overlap", overlap}, {"pieces", pieces}, {"waves", waves},
               {"loops", loops}, {"marches", marches}, {"windows", windows}, {"beside runs", beside_runs}, {"base", base}, {"last", last}};
    start();
    for (const auto &one : all) {
        bool asked = argc == 1;
        for (int i = 1; i < argc; i++)
            asked = asked || strcmp(argv[i], one.name) == 0;
        if (!asked)
            continue;
        printf("\n## %s\n", one.name);
        one.run();
        fflush(stdout);
    }
    return 0;
}
