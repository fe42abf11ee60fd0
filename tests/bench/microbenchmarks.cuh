// What the programs of microbenchmarks share: buffers, times between events, loads with hints.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        const cudaError_t error = (call);                                                                              \
        if (error != cudaSuccess) {                                                                                    \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error));                                              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

using Words = uint4;
static const size_t WHOLE = size_t(1) << 30, PART = WHOLE / 4; // bytes of a buffer, and of the moved data
static int sms;
static double clocks_a_ns;
static Words *from, *to, *other;
static unsigned *out; // in `other`

__global__ void fill(Words *p, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        p[i] = make_uint4(unsigned(i) * 2654435761u, 1, 2, 3);
}

__global__ void sum_all(const Words *p, size_t n, unsigned *out)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        sum += p[i].x;
    if (sum == 1)
        *out = sum;
}

// Returns the median time of several launches, in ns. With `cold`, no part of `from` and `to` is in L2.
template <class Launch>
static double time_of(Launch launch, bool cold = true, int launches = 7)
{
    std::vector<float> times;
    static cudaEvent_t begin, end;
    if (!begin) {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
    launch();
    for (int i = 0; i < launches; i++) {
        sum_all<<<sms * 8, 256>>>(other, cold ? PART / 16 : 1 << 16, out);
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms * 1e6f);
    }
    CHECK(cudaGetLastError());
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Fills the buffers, and works until the clocks have ramped up.
static void start()
{
    cudaDeviceProp properties;
    int khz;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    sms = properties.multiProcessorCount;
    clocks_a_ns = khz * 1e-6;
    for (Words **p : {&from, &to, &other}) {
        CHECK(cudaMalloc(p, WHOLE));
        fill<<<sms * 8, 256>>>(*p, WHOLE / 16);
    }
    out = reinterpret_cast<unsigned *>(other);
    printf("%s\n", properties.name);
    for (int i = 0; i < 300; i++)
        sum_all<<<sms * 8, 256>>>(from, PART / 16, out);
}
