#include "peer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

namespace
{

constexpr int SAMPLES = 31, THREADS = 256;
constexpr int SCREEN = 5; /* samples of each shape, and number of shapes that are timed further */
constexpr size_t FINALISTS = 3;

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

/* Writes the largest difference to worst[0], and the largest magnitude of `right` to worst[1]. */
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
    /* Non-negative doubles have the same order as their bits. */
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

/* Our kernel, and the choice that the kernel is made from. */
class Ours
{
  public:
    Ours(const at_results *results, const Row &row, bool baseline)
    {
        at_error error{};
        const at_gpu nowhere{};
        try {
            /* If nothing is recorded for this GPU, the pattern's default is picked. */
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
            fill_floats(bench.stream, static_cast<float *>(memory), bytes / 4, (unsigned int)i);
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

/* Times of a row, in microseconds. */
struct Times {
    double ours = 0, peer = 0, ceiling = 0; /* 0 if it has none */
    double shape = 0;                       /* time of the fastest shape, its name, and the number
                                               of shapes */
    std::string name;
    size_t shapes = 0;
};

const char *verdict(const Row &row, const Times &times)
{
    if (row.least_ratio == 0 && row.least_share == 0)
        return "-";
    return times.peer >= row.least_ratio * times.ours &&
                   (times.ceiling == 0 || times.ceiling >= row.least_share * times.ours)
               ? "reached"
               : "below";
}

/* Prints two decimals, or three if the third is not 0. */
std::string asked(double least)
{
    const std::string three = std::to_string(std::round(least * 1000) / 1000).substr(0, 5);
    return three.back() == '0' ? three.substr(0, 4) : three;
}

void print_asked(double least)
{
    printf(" %-7s", least > 0 ? ("(" + asked(least) + ")").c_str() : "");
}

void print_times(const Row &row, const Times &times, const std::string &note)
{
    printf("%-18s %-22s %-26s ", (row.pattern + (row.star ? " *" : "")).c_str(), row.shown.c_str(),
           row.peer.c_str());
    const double rate = (row.flops > 0 ? row.flops : row.bytes) / times.ours * 1e-3;
    printf("%10.1f %10.1f %8.0f %-7s %7.3f", times.ours, times.peer, rate,
           row.flops > 0 ? "GFLOP/s" : "GB/s", times.peer / times.ours);
    print_asked(row.least_ratio);
    if (times.ceiling > 0)
        printf(" %7.3f", times.ceiling / times.ours);
    else
        printf("        ");
    print_asked(times.ceiling > 0 ? row.least_share : 0);
    printf(" %s%s\n", verdict(row, times), note.c_str());
}

/* Prints cells of a Markdown table: target, result, result of the fastest shape. Appends reasons
 * why the target cannot be reached to `why`. */
void print_bound(double against, double least, const char *of, const Times &times, std::string &why)
{
    if (against == 0) {
        printf(" | | |");
        return;
    }
    const double best = std::min(times.ours, times.shape);
    const bool reached = least == 0 || against >= least * times.ours;
    const bool open = against >= least * best;
    printf(" %s | %.3f | %.3f%s |", least > 0 ? asked(least).c_str() : "", against / times.ours,
           against / best,
           reached ? ""
           : open  ? " open"
                   : " **no**");
    if (!reached && !open) {
        char text[128];
        snprintf(text, sizeof text, "%s%s of %s would be %.1f us", why.empty() ? "" : ", ",
                 asked(least).c_str(), of, against / least);
        why += text;
    }
}

void print_bounds(const Row &row, const Times &times, const std::string &note)
{
    std::string why;
    printf("| %s%s | %s | %s | %.1f | %.1f | %.1f |", row.pattern.c_str(), row.star ? " *" : "",
           row.shown.c_str(), row.peer.c_str(), times.ours, times.peer, times.shape);
    print_bound(times.peer, row.least_ratio, "the peer", times, why);
    print_bound(times.ceiling, row.least_share, "the ceiling", times, why);
    printf(" %s%s | %s", times.name.c_str(), note.c_str(), why.c_str());
    if (!why.empty()) {
        const double best = std::min(times.ours, times.shape);
        printf("; the fastest of %zu kernels takes %.1f: ", times.shapes + 1, best);
        if (row.fetched > 0)
            printf("memory fetches 64 bytes for each sector, ");
        printf("%.0f GB/s", (row.fetched > 0 ? row.fetched : row.bytes) / best * 1e-3);
        if (times.ceiling > 0)
            printf(" where the ceiling has %.0f", row.bytes / times.ceiling * 1e-3);
    }
    printf(" |\n");
}

/* Chooses the fastest FINALISTS shapes, by a few samples each. */
std::vector<Shape> fastest(Timer &timer, const std::vector<Shape> &shapes)
{
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < shapes.size(); ++i) {
        std::vector<double> list;
        for (int k = 0; k < SCREEN; ++k)
            list.push_back(timer.sample(shapes[i].launch));
        order.emplace_back(median(list), i);
    }
    std::sort(order.begin(), order.end());
    std::vector<Shape> best;
    for (size_t i = 0; i < order.size() && i < FINALISTS; ++i)
        best.push_back(shapes[order[i].second]);
    return best;
}

/* Returns the target of the row on this machine's GPU. */
Row here(Row row)
{
    cudaDeviceProp properties;
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, device), "the GPU's name");
    if (!strstr(properties.name, "H200")) {
        row.least_share = row.star ? row.least_share : 0;
        row.least_ratio = !row.star ? 0 : row.star_ratio > 0 ? row.star_ratio : row.least_ratio;
    }
    return row;
}

void run_row(const at_results *results, const Row &row, bool bounds)
{
    Bench bench;
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
        left = bench.floats(half, 5);
        right = bench.memory(half);
    } else if (row.ceiling == Ceiling::Read) {
        left = bench.floats(all, 5);
    }
    std::vector<std::function<void()>> contenders = {run_ours, run_peer};
    if (row.ceiling == Ceiling::Copy)
        contenders.push_back([&] {
            check(cudaMemcpyAsync(right, left, half, cudaMemcpyDeviceToDevice, bench.stream),
                  "cudaMemcpy");
        });
    else if (row.ceiling == Ceiling::Read)
        contenders.push_back([&] { timer.read(left, all); });
    const size_t first_shape = contenders.size();

    /* Waits until the clock rate is stable. */
    double spent_us = 0;
    while (spent_us < 300e3)
        spent_us += 200 + timer.sample(run_ours) + timer.sample(run_peer);
    std::vector<Shape> shapes;
    Times times;
    if (bounds) {
        shapes = row.shapes(bench);
        times.shapes = shapes.size();
        shapes = fastest(timer, shapes);
    }
    for (const Shape &shape : shapes)
        contenders.push_back(shape.launch);

    std::mt19937 random(1);
    std::vector<std::vector<double>> time_us(contenders.size());
    std::vector<size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < SAMPLES; ++i) {
        std::shuffle(order.begin(), order.end(), random);
        for (size_t which : order)
            time_us[which].push_back(timer.sample(contenders[which]));
    }
    times.ours = median(time_us[0]);
    times.peer = median(time_us[1]);
    if (row.ceiling != Ceiling::None)
        times.ceiling = median(time_us[2]);
    for (size_t i = 0; i < shapes.size(); ++i) {
        const double us = median(time_us[first_shape + i]);
        if (times.shape == 0 || us < times.shape) {
            times.shape = us;
            times.name = shapes[i].name;
        }
    }
    const at_rule rule = at_kernel_rule(ours.kernel);
    const std::string note =
        rule == AT_RULE_EXACT ? "" : std::string("; not recorded for it: ") + at_rule_name(rule);
    if (bounds)
        print_bounds(row, times, note);
    else
        print_times(row, times, note);
}

} // namespace

int main(int count, char **arguments)
{
    bool bounds = false;
    const char *folder = nullptr;
    for (int i = 1; i < count; ++i) {
        if (!strcmp(arguments[i], "--bounds"))
            bounds = true;
        else
            folder = arguments[i];
    }
    if (!folder) {
        fprintf(stderr, "usage: %s [--bounds] RESULTS_FOLDER\n", arguments[0]);
        return 2;
    }
    at_results *results = nullptr;
    at_error error{};
    int failed = 0, printed = 0;
    cudaFree(nullptr); /* makes the context that the library uses */
    if (at_open(folder, &results, &error)) {
        printf("%s: %s\n", arguments[0], error.message);
        return 1;
    }
    for (const Row &row : rows()) {
        if (bounds && !row.shapes)
            continue;
        ++printed;
        try {
            run_row(results, here(row), bounds);
        } catch (const std::exception &problem) {
            printf(bounds ? "| %s | %s | failed: %s |\n" : "%s, %s: failed: %s\n",
                   row.pattern.c_str(), row.shown.c_str(), problem.what());
            failed = 1;
            if (cudaDeviceSynchronize() != cudaSuccess) {
                printf("the GPU's context is lost: the rows that follow are left out\n");
                break;
            }
        }
        fflush(stdout);
    }
    at_close(results);
    if (printed == 0) {
        printf("| %s | failed: none of its rows has shapes |\n", arguments[0]);
        failed = 1;
    }
    return failed;
}
