/* Measures a GPU's memory with reads that are not in order: elements, or pieces of some bytes, read
 * in a second. Also measures the cost of a launch. Prints Markdown tables.
 *
 *   memory           all tables
 *   memory --once    each kind of read a single time, for a profiler */
#include "bench.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace
{

constexpr int SAMPLES = 7;

/* Permutes 0 .. 2^bits - 1; each step can be undone. */
__device__ __forceinline__ unsigned int scattered(unsigned int i, unsigned int bits)
{
    const unsigned int mask = bits < 32 ? (1u << bits) - 1 : ~0u;
    i = (i ^ i >> (bits / 2)) * 0x9e3779b1u & mask;
    i = (i ^ i >> (bits / 2)) * 0x85ebca6bu & mask;
    i = (i ^ i >> (bits / 2)) * 0xc2b2ae35u & mask;
    return i ^ i >> (bits / 2);
}

/* Each lane reads an element of four bytes, with ITEMS in flight; nothing is stored. */
template <int ITEMS>
__global__ void __launch_bounds__(1024)
    read_elements(const unsigned int *from, unsigned int bits, unsigned int *never)
{
    const unsigned int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    unsigned int x[ITEMS], sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const unsigned int *at = from + scattered(first + k * blockDim.x, bits);
        asm volatile("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(x[k]) : "l"(at));
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        sum ^= x[k];
    if (sum == 0x12345678)
        *never = sum;
}

/* Pieces of 16 * LANES * ROUNDS bytes, read by LANES lanes each; 2^bits is the number of pieces. */
template <int LANES, int ROUNDS>
__global__ void __launch_bounds__(1024)
    read_pieces(const uint4 *from, unsigned int bits, unsigned int *never)
{
    constexpr int ITEMS = ROUNDS < 4 ? 4 / ROUNDS : 1;
    const unsigned int lane = threadIdx.x % LANES, per_block = blockDim.x / LANES;
    const unsigned int first = blockIdx.x * per_block * ITEMS + threadIdx.x / LANES;
    uint4 x[ITEMS][ROUNDS];
    unsigned int sum = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        const uint4 *at =
            from + (size_t)scattered(first + k * per_block, bits) * (LANES * ROUNDS) + lane;
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r)
            asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[k][r].x), "=r"(x[k][r].y), "=r"(x[k][r].z), "=r"(x[k][r].w)
                         : "l"(at + r * LANES));
    }
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r)
            sum ^= x[k][r].x ^ x[k][r].y ^ x[k][r].z ^ x[k][r].w;
    if (sum == 0x12345678)
        *never = sum;
}

__global__ void nothing()
{
}

struct Space {
    explicit Space(size_t bytes) : table(bench.floats(bytes, 1))
    {
    }
    Bench bench;
    Timer timer{bench};
    void *table;
    unsigned int *never = static_cast<unsigned int *>(bench.memory(sizeof(unsigned int)));
};

double cold_us(Space &s, const std::function<void()> &run)
{
    std::vector<double> list;
    for (int i = 0; i < SAMPLES; ++i)
        list.push_back(s.timer.sample(run));
    return median(list);
}

template <int ITEMS>
std::function<void()> elements(Space &s, unsigned int bits, unsigned int loads, unsigned int block)
{
    const unsigned int *table = static_cast<const unsigned int *>(s.table);
    unsigned int *never = s.never;
    cudaStream_t stream = s.bench.stream;
    return [=] {
        read_elements<ITEMS><<<loads / (block * ITEMS), block, 0, stream>>>(table, bits, never);
    };
}

template <int LANES, int ROUNDS>
std::function<void()> pieces(Space &s, unsigned int bits, unsigned int count)
{
    const uint4 *table = static_cast<const uint4 *>(s.table);
    unsigned int *never = s.never;
    cudaStream_t stream = s.bench.stream;
    const unsigned int block = 256, share = block / LANES * (ROUNDS < 4 ? 4 / ROUNDS : 1);
    return [=] {
        read_pieces<LANES, ROUNDS><<<count / share, block, 0, stream>>>(table, bits, never);
    };
}

void print_elements(Space &s)
{
    const unsigned int loads = 1 << 24;
    printf("\nElements of 4 bytes at random, 2^24 loads, 10^9 a second (blocks of 256; the best of "
           "128 to 1024):\n\n"
           "| MiB | 1 in flight | 2 | 4 | 8 | the best |\n| --- | --- | --- | --- | --- | --- |\n");
    for (unsigned int bits = 20; bits <= 30; bits += 2) {
        double best = 0, shown[4];
        for (unsigned int block = 128; block <= 1024; block *= 2) {
            const std::function<void()> kinds[4] = {
                elements<1>(s, bits, loads, block), elements<2>(s, bits, loads, block),
                elements<4>(s, bits, loads, block), elements<8>(s, bits, loads, block)};
            for (int i = 0; i < 4; ++i) {
                const double rate = loads / cold_us(s, kinds[i]) * 1e-3;
                if (block == 256)
                    shown[i] = rate;
                best = std::max(best, rate);
            }
        }
        printf("| %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n", 1 << (bits - 18), shown[0], shown[1],
               shown[2], shown[3], best);
    }
}

template <int LANES, int ROUNDS> void print_piece(Space &s)
{
    const int bytes = 16 * LANES * ROUNDS;
    printf("| %d |", bytes);
    for (unsigned int log = 26; log <= 32; log += 3) { /* 64 MiB, 512 MiB, 4 GiB */
        unsigned int bits = log;
        for (int b = bytes; b > 1; b /= 2)
            --bits;
        const unsigned int count = std::min(1u << bits, 1u << 23);
        const double us = cold_us(s, pieces<LANES, ROUNDS>(s, bits, count));
        printf(" %.2f, %.0f |", count / us * 1e-3, (double)count * bytes / us * 1e-3);
    }
    printf("\n");
}

void print_pieces(Space &s)
{
    printf("\nPieces at random, each read once: 10^9 pieces a second, GB/s; of\n\n"
           "| bytes | 64 MiB | 512 MiB | 4 GiB |\n| --- | --- | --- | --- |\n");
    print_piece<2, 1>(s);
    print_piece<4, 1>(s);
    print_piece<8, 1>(s);
    print_piece<16, 1>(s);
    print_piece<32, 1>(s);
    print_piece<32, 2>(s);
    print_piece<32, 4>(s);
    print_piece<32, 8>(s);
}

void print_launches(Space &s)
{
    cudaStream_t stream = s.bench.stream;
    const int sms = s.bench.sms;
    void *word = s.never;
    const struct {
        const char *name;
        std::function<void()> run;
    } list[] = {
        {"nothing between the events", [] {}},
        {"a block that does nothing", [=] { nothing<<<1, 32, 0, stream>>>(); }},
        {"a wave of blocks of 256", [=] { nothing<<<8 * sms, 256, 0, stream>>>(); }},
        {"a wave of blocks of 1024", [=] { nothing<<<2 * sms, 1024, 0, stream>>>(); }},
        {"65536 blocks of 256", [=] { nothing<<<65536, 256, 0, stream>>>(); }},
        {"8 bytes set to zero", [=] { cudaMemsetAsync(word, 0, 4, stream); }},
        {"8 bytes set to zero, a block",
         [=] {
             cudaMemsetAsync(word, 0, 4, stream);
             nothing<<<1, 32, 0, stream>>>();
         }},
        {"a block, a block",
         [=] {
             nothing<<<1, 32, 0, stream>>>();
             nothing<<<1, 32, 0, stream>>>();
         }},
    };
    printf("\nMicroseconds between two events around\n\n| what | us |\n| --- | --- |\n");
    for (const auto &one : list)
        printf("| %s | %.2f |\n", one.name, cold_us(s, one.run));
}

void run_once(Space &s)
{
    const std::function<void()> list[] = {
        elements<4>(s, 20, 1 << 24, 256), elements<4>(s, 22, 1 << 24, 256),
        elements<4>(s, 24, 1 << 24, 256), elements<4>(s, 27, 1 << 24, 256),
        pieces<2, 1>(s, 24, 1 << 23),     pieces<4, 1>(s, 23, 1 << 23),
        pieces<8, 1>(s, 22, 1 << 22),     pieces<32, 4>(s, 18, 1 << 18),
    };
    for (const auto &run : list)
        run();
    check(cudaStreamSynchronize(s.bench.stream), "the GPU reports a fault");
}

} // namespace

int main(int count, char **arguments)
{
    try {
        if (count > 1 && !strcmp(arguments[1], "--once")) {
            Space s((size_t)512 << 20);
            run_once(s);
            return 0;
        }
        for (size_t fetch : {0, 32}) {
            if (fetch && cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, fetch) != cudaSuccess) {
                printf("\nWhat L2 fetches at most cannot be set.\n");
                break;
            }
            size_t most = 0;
            check(cudaDeviceGetLimit(&most, cudaLimitMaxL2FetchGranularity), "what L2 fetches");
            printf("\nL2 fetches %zu bytes at most%s.\n", most, fetch ? "" : ", as it comes");
            Space s((size_t)4 << 30);
            print_elements(s);
            print_pieces(s);
            if (!fetch)
                print_launches(s);
            fflush(stdout);
        }
    } catch (const std::exception &problem) {
        printf("failed: %s\n", problem.what());
        return 1;
    }
    return 0;
}
