#include "bench.h"

#include <algorithm>

namespace
{

constexpr int THREADS = 256;

__global__ void write_floats(float *to, size_t count, unsigned int salt)
{
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS)) {
        unsigned long long z = (i + 1 + (unsigned long long)salt * count) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        to[i] = float(int(z >> 39)) * 0x1p-24f - 1.0f + (float)(z & 1) * 0x1p-24f;
    }
}

__global__ void write_all(uint4 *to, size_t count, unsigned int salt)
{
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS))
        to[i] = make_uint4(salt, salt + 1, (unsigned int)i, salt);
}

/* Reads with four loads of each thread in flight; the sum is stored under a condition that is never
 * true. The loads have no hint: with the hint "evict first" they would leave the lines of
 * write_all() in L2. */
__global__ void read_all(const uint4 *from, size_t count, unsigned int *never)
{
    unsigned int sum = 0;
    const size_t step = gridDim.x * size_t(THREADS);
    size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    for (; i + 3 * step < count; i += 4 * step) {
        uint4 part[4];
        for (int k = 0; k < 4; ++k)
            part[k] = from[i + k * step];
        for (int k = 0; k < 4; ++k)
            sum ^= part[k].x ^ part[k].y ^ part[k].z ^ part[k].w;
    }
    for (; i < count; i += step)
        sum ^= from[i].x ^ from[i].y ^ from[i].z ^ from[i].w;
    if (sum == 0x12345678)
        *never = sum;
}

} // namespace

void check(cudaError_t result, const char *what)
{
    if (result != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

double median(std::vector<double> list)
{
    std::sort(list.begin(), list.end());
    return list[list.size() / 2];
}

Bench::Bench()
{
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "the SMs");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
}

Bench::~Bench()
{
    for (void *memory : owned)
        cudaFree(memory);
    cudaStreamDestroy(stream);
}

void *Bench::memory(size_t bytes)
{
    void *made = nullptr;
    check(cudaMalloc(&made, bytes), "no memory on the GPU");
    owned.push_back(made);
    return made;
}

void *Bench::floats(size_t bytes, unsigned int salt)
{
    void *made = memory(bytes);
    fill_floats(stream, static_cast<float *>(made), bytes / sizeof(float), salt);
    return made;
}

void fill_floats(cudaStream_t stream, float *to, size_t count, unsigned int salt)
{
    write_floats<<<1024, THREADS, 0, stream>>>(to, count, salt);
}

Timer::Timer(Bench &bench) : bench(bench)
{
    int device = 0, l2 = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "the size of the L2");
    flush_count = 2 * (size_t)l2 / sizeof(uint4);
    to = static_cast<uint4 *>(bench.memory(flush_count * sizeof(uint4)));
    from = static_cast<uint4 *>(bench.memory(flush_count * sizeof(uint4)));
    never = static_cast<unsigned int *>(bench.memory(sizeof(unsigned int)));
    check(cudaEventCreate(&start), "an event");
    check(cudaEventCreate(&stop), "an event");
    write_all<<<8 * bench.sms, THREADS, 0, bench.stream>>>(from, flush_count, 3);
}

Timer::~Timer()
{
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
}

void Timer::read(const void *data, size_t bytes)
{
    read_all<<<16 * bench.sms, THREADS, 0, bench.stream>>>(static_cast<const uint4 *>(data),
                                                           bytes / sizeof(uint4), never);
}

double Timer::sample(const std::function<void()> &run)
{
    for (int i = 0; i < 2; ++i) {
        write_all<<<8 * bench.sms, THREADS, 0, bench.stream>>>(to, flush_count, 1);
        read(from, flush_count * sizeof(uint4));
    }
    check(cudaEventRecord(start, bench.stream), "an event");
    run();
    check(cudaEventRecord(stop, bench.stream), "an event");
    check(cudaStreamSynchronize(bench.stream), "the GPU reports a fault");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), "an event");
    return ms * 1e3;
}
