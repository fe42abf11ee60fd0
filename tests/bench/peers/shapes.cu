#include "shapes.h"

#include <algorithm>
#include <cstdint>

namespace
{

/* ---- loads and stores with a hint ---- */

enum class Load { Plain, NoAllocate };
enum class Store { Plain, Streaming };
const char *const LOADS[] = {"", ", no_allocate"};
const char *const STORES[] = {"", ", streaming stores"};

template <Load L> __device__ __forceinline__ uint4 load(const uint4 *from)
{
    if (L == Load::Plain)
        return __ldg(from);
    uint4 x;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(from));
    return x;
}

template <Store S> __device__ __forceinline__ void store(uint4 *to, uint4 x)
{
    if (S == Store::Plain)
        *to = x;
    else
        __stcs(to, x);
}

__device__ __forceinline__ uint4 add(uint4 x, uint4 y)
{
    return make_uint4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

__device__ __forceinline__ unsigned int folded(uint4 x)
{
    return x.x ^ x.y ^ x.z ^ x.w;
}

/* ---- streams ---- */

struct Streams {
    const uint4 *from[2];
    uint4 *to;
    size_t count; /* number of uint4s in each array */
    unsigned int *never;
};

template <int READS, bool WRITES, int ITEMS, Load L, Store S>
__global__ void __launch_bounds__(1024) stream(Streams s)
{
    unsigned int sum = 0;
    const size_t share = size_t(blockDim.x) * ITEMS;
    for (size_t start = blockIdx.x * share + threadIdx.x; start < s.count;
         start += gridDim.x * share) {
        uint4 x[READS][ITEMS];
#pragma unroll
        for (int r = 0; r < READS; ++r)
#pragma unroll
            for (int k = 0; k < ITEMS; ++k)
                x[r][k] = load<L>(s.from[r] + start + size_t(k) * blockDim.x);
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            const uint4 y = READS == 2 ? add(x[0][k], x[READS - 1][k]) : x[0][k];
            if (WRITES)
                store<S>(s.to + start + size_t(k) * blockDim.x, y);
            else
                sum ^= folded(y);
        }
    }
    if (!WRITES && sum == 0x12345678)
        *s.never = sum;
}

std::string shown(unsigned int block, int items, int per_sm)
{
    std::string text = std::to_string(block) + " threads x " + std::to_string(items);
    return per_sm ? text + ", " + std::to_string(per_sm) + " an SM stay" : text;
}

template <int READS, bool WRITES, int ITEMS, Load L, Store S>
void add_stream(std::vector<Shape> &list, Bench &bench, const Streams &s)
{
    for (unsigned int block = 128; block <= 1024; block *= 2) {
        const unsigned int whole = (unsigned int)(s.count / (block * ITEMS));
        for (int waves = 0; waves < 2; ++waves) {
            const int per_sm = waves ? 2048 / (int)block : 0;
            const unsigned int grid = per_sm ? (unsigned int)(bench.sms * per_sm) : whole;
            if (s.count % (block * ITEMS) != 0 || grid > whole)
                continue;
            cudaStream_t stream_ = bench.stream;
            list.push_back({shown(block, ITEMS, per_sm) + LOADS[(int)L] + STORES[(int)S], [=] {
                                stream<READS, WRITES, ITEMS, L, S><<<grid, block, 0, stream_>>>(s);
                            }});
        }
    }
}

template <int READS, bool WRITES, Load L, Store S>
void add_items(std::vector<Shape> &list, Bench &bench, const Streams &s)
{
    add_stream<READS, WRITES, 1, L, S>(list, bench, s);
    add_stream<READS, WRITES, 2, L, S>(list, bench, s);
    add_stream<READS, WRITES, 4, L, S>(list, bench, s);
}

/* ---- streams by the copy engine ---- */

__device__ __forceinline__ unsigned int in_shared(const void *place)
{
    return (unsigned int)__cvta_generic_to_shared(place);
}

__device__ __forceinline__ void fetch(void *to, const void *from, unsigned int bytes,
                                      uint64_t *ready)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(in_shared(to)),
                 "l"(from), "r"(bytes), "r"(in_shared(ready))
                 : "memory");
}

/* Shares of `bytes` go through STAGES slots in shared memory. All slots but one are being filled
 * while one is written out. */
template <int READS, bool WRITES, int STAGES>
__global__ void __launch_bounds__(1024) bulk(Streams s, unsigned int bytes)
{
    extern __shared__ __align__(128) unsigned char places[];
    __shared__ uint64_t ready[STAGES];
    const size_t each = bytes / sizeof(uint4);
    const unsigned int shares = (unsigned int)(s.count / each);
    unsigned int sum = 0;

    const auto place = [&](int stage, int r) {
        return reinterpret_cast<uint4 *>(places + (stage * READS + r) * bytes);
    };
    const auto ask = [&](unsigned int share, int stage) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                         in_shared(&ready[stage])),
                     "r"(READS * bytes)
                     : "memory");
        for (int r = 0; r < READS; ++r)
            fetch(place(stage, r), s.from[r] + share * each, bytes, &ready[stage]);
    };

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(in_shared(&ready[i]))
                         : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (int i = 0; i + 1 < STAGES || i == 0; ++i)
            if (blockIdx.x + i * gridDim.x < shares)
                ask(blockIdx.x + i * gridDim.x, i);
    }
    __syncthreads();

    int stage = 0;
    unsigned int phase = 0;
    for (unsigned int share = blockIdx.x; share < shares; share += gridDim.x) {
        unsigned int done = 0;
        while (!done)
            asm volatile("{\n\t.reg .pred p;\n\t"
                         "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(done)
                         : "r"(in_shared(&ready[stage])), "r"(phase)
                         : "memory");
        if (READS == 2 || !WRITES)
            for (unsigned int i = threadIdx.x; i < each; i += blockDim.x) {
                const uint4 x = READS == 2 ? add(place(stage, 0)[i], place(stage, READS - 1)[i])
                                           : place(stage, 0)[i];
                if (WRITES)
                    place(stage, 0)[i] = x;
                else
                    sum ^= folded(x);
            }
        if (WRITES)
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            if (WRITES) {
                asm volatile("cp.async.bulk.global.shared::cta.bulk_group "
                             "[%0], [%1], %2;" ::"l"(s.to + share * each),
                             "r"(in_shared(place(stage, 0))), "r"(bytes)
                             : "memory");
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
                /* The next slot to fill was written out an iteration ago, or just now if there is
                   only one slot. */
                if (STAGES > 1)
                    asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                else
                    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            }
            const int ahead = STAGES > 1 ? STAGES - 1 : 1;
            if (share + ahead * gridDim.x < shares)
                ask(share + ahead * gridDim.x, (stage + ahead) % STAGES);
        }
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
    if (WRITES && threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (!WRITES && sum == 0x12345678)
        *s.never = sum;
}

template <int READS, bool WRITES, int STAGES>
void add_bulk(std::vector<Shape> &list, Bench &bench, const Streams &s)
{
    const auto kernel = bulk<READS, WRITES, STAGES>;
    const int most = 200 << 10;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
          "shared memory of a bulk copy");
    for (unsigned int bytes = 4096; bytes <= 32768; bytes *= 2) {
        const unsigned int shared = bytes * READS * STAGES, block = 256;
        const unsigned int shares = (unsigned int)(s.count * sizeof(uint4) / bytes);
        unsigned int per_sm = 220u * 1024 / (shared + 1024 + 64);
        per_sm = per_sm > 8 ? 8 : per_sm;
        if (shared > (unsigned int)most)
            continue;
        const unsigned int stay = per_sm * (unsigned int)bench.sms;
        const unsigned int grid = STAGES == 1 ? shares : stay < shares ? stay : shares;
        cudaStream_t stream_ = bench.stream;
        list.push_back({"bulk " + std::to_string(bytes / 1024) + " KiB x " + std::to_string(STAGES),
                        [=] { kernel<<<grid, block, shared, stream_>>>(s, bytes); }});
    }
}

template <int READS> std::vector<Shape> streams_of(Bench &bench, const Streams &s, int major)
{
    std::vector<Shape> list;
    if (s.to) {
        add_items<READS, true, Load::Plain, Store::Plain>(list, bench, s);
        add_items<READS, true, Load::Plain, Store::Streaming>(list, bench, s);
        add_items<READS, true, Load::NoAllocate, Store::Plain>(list, bench, s);
        if (major >= 9) {
            add_bulk<READS, true, 1>(list, bench, s);
            add_bulk<READS, true, 3>(list, bench, s);
        }
    } else {
        add_items<READS, false, Load::Plain, Store::Plain>(list, bench, s);
        add_items<READS, false, Load::NoAllocate, Store::Plain>(list, bench, s);
        if (major >= 9) {
            add_bulk<READS, false, 1>(list, bench, s);
            add_bulk<READS, false, 3>(list, bench, s);
        }
    }
    return list;
}

/* ---- tiles ---- */

template <int TILE, int THREADS, Load L, Store S>
__global__ void __launch_bounds__(THREADS)
    tile_copy(const uint4 *from, uint4 *to, unsigned int side, unsigned int group)
{
    constexpr int LANES = TILE / 4, ROWS = THREADS / LANES, ITEMS = TILE / ROWS;
    const unsigned int tiles = side / TILE, pitch = side / 4;
    /* Blocks take bands of `group` columns of tiles; within a band, row after row. */
    const unsigned int row = blockIdx.x / group % tiles;
    const unsigned int column = blockIdx.x / (group * tiles) * group + blockIdx.x % group;
    const unsigned int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
    const uint4 *source = from + size_t(row * TILE + y) * pitch + column * LANES + x;
    uint4 *target = to + size_t(column * TILE + y) * pitch + row * LANES + x;
    uint4 value[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        value[k] = load<L>(source + size_t(k * ROWS) * pitch);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        store<S>(target + size_t(k * ROWS) * pitch, value[k]);
}

template <int TILE, int THREADS, Load L, Store S>
void add_tiles(std::vector<Shape> &list, Bench &bench, const uint4 *from, uint4 *to,
               unsigned int side)
{
    const unsigned int tiles = side / TILE;
    for (unsigned int group = 1; group <= tiles; group = group < 16 ? 2 * group : 16 * group) {
        cudaStream_t stream_ = bench.stream;
        list.push_back({"tiles of " + std::to_string(TILE) + "^2, " + std::to_string(THREADS) +
                            " threads, bands of " + std::to_string(group) + LOADS[(int)L] +
                            STORES[(int)S],
                        [=] {
                            tile_copy<TILE, THREADS, L, S>
                                <<<tiles * tiles, THREADS, 0, stream_>>>(from, to, side, group);
                        }});
    }
}

template <Load L, Store S>
void add_all_tiles(std::vector<Shape> &list, Bench &bench, const uint4 *from, uint4 *to,
                   unsigned int side)
{
    add_tiles<32, 128, L, S>(list, bench, from, to, side);
    add_tiles<32, 256, L, S>(list, bench, from, to, side);
    add_tiles<64, 256, L, S>(list, bench, from, to, side);
    add_tiles<64, 512, L, S>(list, bench, from, to, side);
    add_tiles<64, 1024, L, S>(list, bench, from, to, side);
    add_tiles<128, 512, L, S>(list, bench, from, to, side);
    add_tiles<128, 1024, L, S>(list, bench, from, to, side);
}

/* ---- single elements ---- */

__device__ __forceinline__ float load_element(const float *from)
{
    float x;
    asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(x) : "l"(from));
    return x;
}

template <int ITEMS>
__global__ void __launch_bounds__(1024)
    gather_elements(const float *from, const unsigned int *index, float *to)
{
    const unsigned int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    unsigned int at[ITEMS];
    float x[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        at[k] = __ldcs(index + first + k * blockDim.x);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        x[k] = load_element(from + at[k]);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        __stcs(to + first + k * blockDim.x, x[k]);
}

/* A thread keeps its indices and loads the elements in one window of the array after the other, so
 * that all blocks read the same part of the array at a time: sectors that one block brought into L2
 * serve the others. In place, an element takes the register of its index. */
template <int ITEMS, int BLOCK, bool IN_PLACE>
__global__ void __launch_bounds__(BLOCK)
    gather_windows(const unsigned int *__restrict__ from, const unsigned int *__restrict__ index,
                   unsigned int *__restrict__ to, unsigned int shares, unsigned int shift,
                   unsigned int windows)
{
    for (unsigned int share = blockIdx.x; share < shares; share += gridDim.x) {
        const unsigned int first = share * BLOCK * ITEMS + threadIdx.x;
        unsigned int at[ITEMS], x[ITEMS], left = ~0u;
#pragma unroll
        for (int k = 0; k < ITEMS; ++k)
            at[k] = __ldcs(index + first + k * BLOCK);
#pragma unroll 1
        for (unsigned int w = 0; w < windows; ++w) {
#pragma unroll
            for (int k = 0; k < ITEMS; ++k)
                if (!IN_PLACE) {
                    if (at[k] >> shift == w)
                        x[k] = from[at[k]];
                } else if ((left & 1u << k) && at[k] >> shift == w) {
                    at[k] = from[at[k]];
                    left &= ~(1u << k);
                }
        }
#pragma unroll
        for (int k = 0; k < ITEMS; ++k)
            __stcs(to + first + k * BLOCK, IN_PLACE ? at[k] : x[k]);
    }
}

template <int ITEMS>
void add_gather(std::vector<Shape> &list, Bench &bench, const float *from,
                const unsigned int *index, float *to, unsigned int count)
{
    for (unsigned int block = 128; block <= 1024; block *= 2) {
        cudaStream_t stream_ = bench.stream;
        list.push_back({shown(block, ITEMS, 0), [=] {
                            gather_elements<ITEMS>
                                <<<count / (block * ITEMS), block, 0, stream_>>>(from, index, to);
                        }});
    }
}

template <int ITEMS, int BLOCK, bool IN_PLACE>
void add_windows(std::vector<Shape> &list, Bench &bench, const float *from,
                 const unsigned int *index, float *to, unsigned int count)
{
    const auto kernel = gather_windows<ITEMS, BLOCK, IN_PLACE>;
    const unsigned int *source = reinterpret_cast<const unsigned int *>(from);
    unsigned int *target = reinterpret_cast<unsigned int *>(to);
    int per_sm = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, kernel, BLOCK, 0), "occupancy");
    const unsigned int shares = count / (ITEMS * BLOCK);
    for (unsigned int windows = 2; windows <= 32; windows *= 2)
        for (int stay = 0; stay < 2; ++stay) {
            unsigned int shift = 0;
            while (windows << shift < count)
                ++shift;
            const unsigned int grid =
                stay ? std::min(shares, (unsigned int)(per_sm * bench.sms)) : shares;
            cudaStream_t stream_ = bench.stream;
            list.push_back({"in " + std::to_string(windows) + " windows" +
                                (IN_PLACE ? ", in place, " : ", ") +
                                shown(BLOCK, ITEMS, stay ? per_sm : 0),
                            [=] {
                                kernel<<<grid, BLOCK, 0, stream_>>>(source, index, target, shares,
                                                                    shift, windows);
                            }});
        }
}

template <int ITEMS>
__global__ void __launch_bounds__(1024)
    stride_elements(const float *from, float *to, unsigned int stride)
{
    const unsigned int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    float x[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        x[k] = load_element(from + size_t(first + k * blockDim.x) * stride);
#pragma unroll
    for (int k = 0; k < ITEMS; ++k)
        __stcs(to + first + k * blockDim.x, x[k]);
}

template <int ITEMS>
void add_strides(std::vector<Shape> &list, Bench &bench, const float *from, float *to,
                 unsigned int count, unsigned int stride)
{
    for (unsigned int block = 128; block <= 1024; block *= 2) {
        cudaStream_t stream_ = bench.stream;
        list.push_back({shown(block, ITEMS, 0), [=] {
                            stride_elements<ITEMS>
                                <<<count / (block * ITEMS), block, 0, stream_>>>(from, to, stride);
                        }});
    }
}

} // namespace

std::vector<Shape> streams(Bench &bench, std::vector<const void *> from, void *to, size_t bytes)
{
    Streams s{};
    int device = 0, major = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
          "the compute capability");
    for (size_t i = 0; i < from.size(); ++i)
        s.from[i] = static_cast<const uint4 *>(from[i]);
    s.to = static_cast<uint4 *>(to);
    s.count = bytes / sizeof(uint4);
    s.never = static_cast<unsigned int *>(bench.memory(sizeof(unsigned int)));
    return from.size() == 2 ? streams_of<2>(bench, s, major) : streams_of<1>(bench, s, major);
}

std::vector<Shape> tiles(Bench &bench, const void *from, void *to, unsigned int side)
{
    std::vector<Shape> list;
    const uint4 *source = static_cast<const uint4 *>(from);
    uint4 *target = static_cast<uint4 *>(to);
    add_all_tiles<Load::Plain, Store::Plain>(list, bench, source, target, side);
    add_all_tiles<Load::NoAllocate, Store::Streaming>(list, bench, source, target, side);
    return list;
}

std::vector<Shape> gathers(Bench &bench, const float *from, const unsigned int *index, float *to,
                           unsigned int count)
{
    std::vector<Shape> list;
    add_gather<1>(list, bench, from, index, to, count);
    add_gather<2>(list, bench, from, index, to, count);
    add_gather<4>(list, bench, from, index, to, count);
    add_gather<8>(list, bench, from, index, to, count);
    add_windows<16, 256, false>(list, bench, from, index, to, count);
    add_windows<16, 1024, false>(list, bench, from, index, to, count);
    add_windows<32, 256, false>(list, bench, from, index, to, count);
    add_windows<32, 512, false>(list, bench, from, index, to, count);
    add_windows<16, 1024, true>(list, bench, from, index, to, count);
    add_windows<32, 256, true>(list, bench, from, index, to, count);
    add_windows<32, 512, true>(list, bench, from, index, to, count);
    add_windows<32, 1024, true>(list, bench, from, index, to, count);
    return list;
}

std::vector<Shape> strides(Bench &bench, const float *from, float *to, unsigned int count,
                           unsigned int stride)
{
    std::vector<Shape> list;
    add_strides<1>(list, bench, from, to, count, stride);
    add_strides<2>(list, bench, from, to, count, stride);
    add_strides<4>(list, bench, from, to, count, stride);
    add_strides<8>(list, bench, from, to, count, stride);
    return list;
}
