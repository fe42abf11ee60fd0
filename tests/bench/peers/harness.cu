#include "peer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace
{

constexpr int SAMPLES = 31, THREADS = 256;
constexpr int CONTENDERS = 3; /* ours, the peer, the ceiling */

__global__ void fill_floats(float *to, size_t count, unsigned int salt)
{
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS)) {
        unsigned long long z = (i + 1 + (unsigned long long)salt * count) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        to[i] = float(int(z >> 39)) * 0x1p-24f - 1.0f + (float)(z & 1) * 0x1p-24f;
    }
}

__global__ void fill_bytes(unsigned char *to, size_t count, unsigned int salt, unsigned int values)
{
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS)) {
        unsigned long long z = (i + 1 + (unsigned long long)salt * count) * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        to[i] = (unsigned char)((z >> 32) * values >> 32);
    }
}

__global__ void write_all(uint4 *to, size_t count, unsigned int salt)
{
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS))
        to[i] = make_uint4(salt, salt + 1, (unsigned int)i, salt);
}

/* Reads with four loads of each thread in flight; the sum is stored where it cannot be. The loads
 * have no hint: behind those that are to be evicted first, the lines that write_all() left in L2
 * would stay there. */
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

/* worst[0]: largest difference, worst[1]: largest magnitude of `right`; bytes: how many differ. */
template <class T>
__global__ void compare_floats(const T *left, const T *right, size_t count, double *worst)
{
    double difference = 0, magnitude = 0;
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS)) {
        const double d = fabs((double)left[i] - (double)right[i]);
        difference = d <= difference ? difference : d == d ? d : INFINITY;
        magnitude = fmax(magnitude, fabs((double)right[i]));
    }
    /* Doubles that are not negative are ordered as their bits are. */
    atomicMax((unsigned long long *)worst, (unsigned long long)__double_as_longlong(difference));
    atomicMax((unsigned long long *)worst + 1, (unsigned long long)__double_as_longlong(magnitude));
}

__global__ void compare_bytes(const unsigned char *left, const unsigned char *right, size_t count,
                              unsigned long long *different)
{
    unsigned long long here = 0;
    for (size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x; i < count;
         i += gridDim.x * size_t(THREADS))
        here += left[i] != right[i];
    if (here)
        atomicAdd(different, here);
}

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what);
}

void check_ours(at_status status, const at_error &error)
{
    if (status)
        fail(error.message);
}

/* A kernel of ours, with what it borrows from. */
class Ours
{
  public:
    Ours(const at_results *results, const Row &row, bool baseline)
    {
        at_error error{};
        const at_gpu nowhere{};
        try {
            /* Of a GPU that nothing is recorded for, the pattern's default is picked. */
            const auto &problem =
                baseline && !row.baseline_problem.empty() ? row.baseline_problem : row.problem;
            check_ours(at_pick(results, row.pattern.c_str(), baseline ? &nowhere : nullptr,
                               problem.data(), problem.size(), &choice, &error),
                       error);
            check_ours(at_prepare(choice, nullptr, &kernel, &error), error);
        } catch (...) {
            at_choice_free(choice);
            throw;
        }
    }
    ~Ours()
    {
        at_kernel_free(kernel);
        at_choice_free(choice);
    }
    Ours(const Ours &) = delete;
    Ours &operator=(const Ours &) = delete;

    void bind(Bench &bench)
    {
        for (size_t i = 0; i < at_kernel_buffer_count(kernel); ++i)
            addresses.push_back((uint64_t)bench.buffer<void>(at_kernel_buffer_name(kernel, i)));
    }
    void launch(cudaStream_t stream) const
    {
        at_error error{};
        check_ours(at_launch(kernel, stream, addresses.data(), &error), error);
    }

    at_choice *choice = nullptr;
    at_kernel *kernel = nullptr;

  private:
    std::vector<uint64_t> addresses;
};

class Timer
{
  public:
    explicit Timer(Bench &bench) : bench(bench)
    {
        int device = 0, l2 = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "the size of the L2");
        check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "the SMs");
        flush_count = 2 * (size_t)l2 / sizeof(uint4);
        to = static_cast<uint4 *>(bench.memory(flush_count * sizeof(uint4)));
        from = static_cast<uint4 *>(bench.memory(flush_count * sizeof(uint4)));
        never = static_cast<unsigned int *>(bench.memory(sizeof(unsigned int)));
        check(cudaEventCreate(&start), "an event");
        check(cudaEventCreate(&stop), "an event");
        write_all<<<8 * sms, THREADS, 0, bench.stream>>>(from, flush_count, 3);
    }
    ~Timer()
    {
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
    }

    void read(const void *data, size_t bytes)
    {
        read_all<<<16 * sms, THREADS, 0, bench.stream>>>(static_cast<const uint4 *>(data),
                                                         bytes / sizeof(uint4), never);
    }

    /* Microseconds of one run, behind a flush that leaves L2 full of clean lines of other data. The
     * flush is queued twice, so that it still runs when the last of what is timed is queued. */
    double sample(const std::function<void()> &run)
    {
        for (int i = 0; i < 2; ++i) {
            write_all<<<8 * sms, THREADS, 0, bench.stream>>>(to, flush_count, 1);
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

    int sms = 0;

  private:
    Bench &bench;
    size_t flush_count = 0;
    uint4 *to = nullptr, *from = nullptr;
    unsigned int *never = nullptr;
    cudaEvent_t start{}, stop{};
};

double median(std::vector<double> list)
{
    std::sort(list.begin(), list.end());
    return list[list.size() / 2];
}

size_t bytes_of(const Ours &ours, const std::string &name)
{
    for (size_t i = 0; i < at_kernel_buffer_count(ours.kernel); ++i)
        if (name == at_kernel_buffer_name(ours.kernel, i))
            return at_kernel_buffer_bytes(ours.kernel, i);
    fail("the pattern has no buffer " + name);
}

void make_buffers(Bench &bench, const Ours &ours, const Row &row)
{
    for (size_t i = 0; i < at_kernel_buffer_count(ours.kernel); ++i) {
        const std::string name = at_kernel_buffer_name(ours.kernel, i);
        const size_t bytes = at_kernel_buffer_bytes(ours.kernel, i);
        void *memory = bench.memory(bytes + 16); /* whole words for read_all() */
        bench.buffers[name] = memory;
        const bool zero = std::find(row.zeroed.begin(), row.zeroed.end(), name) != row.zeroed.end();
        if (zero)
            check(cudaMemsetAsync(memory, 0, bytes, bench.stream), "cudaMemset");
        else if (row.fill == Element::Floats)
            fill_floats<<<1024, THREADS, 0, bench.stream>>>(static_cast<float *>(memory), bytes / 4,
                                                            (unsigned int)i);
        else
            fill_bytes<<<1024, THREADS, 0, bench.stream>>>(static_cast<unsigned char *>(memory),
                                                           bytes, (unsigned int)i, row.values);
    }
}

void compare(Bench &bench, const Ours &ours, const Row &row, const std::function<void()> &run_ours,
             const std::function<void()> &run_peer)
{
    const size_t bytes = bytes_of(ours, row.compared);
    const void *mine = bench.buffer<void>(row.compared.c_str());
    run_ours();
    run_peer();
    double *worst = static_cast<double *>(bench.memory(2 * sizeof(double)));
    double found[2];
    check(cudaMemsetAsync(worst, 0, sizeof found, bench.stream), "cudaMemset");
    if (row.element == Element::Bytes)
        compare_bytes<<<1024, THREADS, 0, bench.stream>>>(
            static_cast<const unsigned char *>(mine),
            static_cast<const unsigned char *>(bench.output), bytes,
            reinterpret_cast<unsigned long long *>(worst));
    else if (row.element == Element::Floats)
        compare_floats<<<1024, THREADS, 0, bench.stream>>>(static_cast<const float *>(mine),
                                                           static_cast<const float *>(bench.output),
                                                           bytes / 4, worst);
    else
        compare_floats<<<1024, THREADS, 0, bench.stream>>>(
            static_cast<const double *>(mine), static_cast<const double *>(bench.output), bytes / 8,
            worst);
    check(cudaMemcpyAsync(found, worst, sizeof found, cudaMemcpyDeviceToHost, bench.stream),
          "cudaMemcpy");
    check(cudaStreamSynchronize(bench.stream), "the GPU reports a fault");
    if (row.element == Element::Bytes ? found[0] != 0 : !(found[0] <= row.tolerance * found[1]))
        fail("its result is not ours (difference " + std::to_string(found[0]) + ", largest " +
             std::to_string(found[1]) + ")");
}

void print_start(const Row &row)
{
    printf("%-18s %-22s %-26s ", row.pattern.c_str(), row.shown.c_str(), row.peer.c_str());
}

void print_times(const Row &row, const std::vector<double> time_us[CONTENDERS],
                 const std::string &note)
{
    const double ours = median(time_us[0]), peer = median(time_us[1]);
    const double ratio = peer / ours;
    const double rate = row.flops > 0 ? row.flops / ours * 1e-3 : row.bytes / ours * 1e-3;
    printf("%10.1f %10.1f %8.0f %-7s %7.3f", ours, peer, rate, row.flops > 0 ? "GFLOP/s" : "GB/s",
           ratio);
    if (row.least_ratio > 0)
        printf(" (%.2f)", row.least_ratio);
    else
        printf("       ");
    bool reached = ratio >= row.least_ratio;
    if (row.ceiling != Ceiling::None) {
        const double share = median(time_us[2]) / ours;
        printf(" %7.3f", share);
        reached = reached && share >= row.least_share;
        if (row.least_share > 0)
            printf(" (%.2f)", row.least_share);
        else
            printf("       ");
    } else {
        printf("               ");
    }
    printf("  %s%s\n", reached ? "reached" : "below", note.c_str());
}

void run_row(const at_results *results, const Row &row)
{
    Bench bench;
    std::vector<double> time_us[CONTENDERS];
    check(cudaStreamCreateWithFlags(&bench.stream, cudaStreamNonBlocking), "a stream");
    struct Cleanup {
        Bench &bench;
        ~Cleanup()
        {
            for (void *memory : bench.owned)
                cudaFree(memory);
            cudaStreamDestroy(bench.stream);
        }
    } cleanup{bench};

    Ours ours(results, row, false);
    make_buffers(bench, ours, row);
    ours.bind(bench);
    const auto run_ours = [&] {
        if (!row.cleared.empty())
            check(cudaMemsetAsync(bench.buffer<void>(row.cleared.c_str()), 0,
                                  bytes_of(ours, row.cleared), bench.stream),
                  "cudaMemset");
        ours.launch(bench.stream);
    };
    std::unique_ptr<Ours> baseline;
    std::function<void()> run_peer;
    if (row.is_baseline) {
        baseline.reset(new Ours(results, row, true));
        baseline->bind(bench);
        run_peer = [&] { baseline->launch(bench.stream); };
    } else {
        if (!row.compared.empty())
            bench.output = bench.memory(bytes_of(ours, row.compared));
        run_peer = row.make(bench);
        if (!row.compared.empty())
            compare(bench, ours, row, run_ours, run_peer);
    }

    Timer timer(bench);
    const size_t half = (size_t)row.bytes / 2 / 16 * 16, all = (size_t)row.bytes / 16 * 16;
    void *left = nullptr, *right = nullptr;
    if (row.ceiling == Ceiling::Copy) {
        left = bench.memory(half);
        right = bench.memory(half);
    } else if (row.ceiling == Ceiling::Read) {
        left = bench.memory(all);
        write_all<<<1024, THREADS, 0, bench.stream>>>(static_cast<uint4 *>(left), all / 16, 5);
    }
    const std::function<void()> contenders[CONTENDERS] = {
        run_ours, run_peer, [&] {
            if (row.ceiling == Ceiling::Copy)
                check(cudaMemcpyAsync(right, left, half, cudaMemcpyDeviceToDevice, bench.stream),
                      "cudaMemcpy");
            else
                timer.read(left, all);
        }};
    const int count = row.ceiling == Ceiling::None ? CONTENDERS - 1 : CONTENDERS;
    std::mt19937 random(1);
    /* The clock settles first; a slow row takes fewer samples. */
    double spent_us = 0;
    while (spent_us < 300e3)
        spent_us += 200 + timer.sample(contenders[0]) + timer.sample(contenders[1]);
    for (int i = 0; i < SAMPLES; ++i) {
        int order[CONTENDERS] = {0, 1, 2};
        std::shuffle(order, order + count, random);
        for (int j = 0; j < count; ++j)
            time_us[order[j]].push_back(timer.sample(contenders[order[j]]));
    }
    const at_rule rule = at_kernel_rule(ours.kernel);
    print_times(
        row, time_us,
        rule == AT_RULE_EXACT ? "" : std::string("; not recorded for it: ") + at_rule_name(rule));
}

} // namespace

void check(cudaError_t result, const char *what)
{
    if (result != cudaSuccess)
        fail(std::string(what) + ": " + cudaGetErrorString(result));
}

void *Bench::memory(size_t bytes)
{
    void *made = nullptr;
    check(cudaMalloc(&made, bytes), "no memory on the GPU");
    owned.push_back(made);
    return made;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: %s RESULTS_FOLDER\n", arguments[0]);
        return 2;
    }
    at_results *results = nullptr;
    at_error error{};
    int failed = 0;
    cudaFree(nullptr); /* makes the context that the library looks for */
    if (at_open(arguments[1], &results, &error)) {
        printf("%s: %s\n", arguments[0], error.message);
        return 1;
    }
    for (const Row &row : rows()) {
        print_start(row);
        try {
            run_row(results, row);
        } catch (const std::exception &problem) {
            printf("failed: %s\n", problem.what());
            failed = 1;
            if (cudaDeviceSynchronize() != cudaSuccess) {
                printf("the GPU's context is lost: the rows that follow are left out\n");
                break;
            }
        }
        fflush(stdout);
    }
    at_close(results);
    return failed;
}
