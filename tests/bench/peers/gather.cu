/* gather beside thrust::gather, with random indices and with indices of neighbours within a
   window. */
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "peer.h"

static std::vector<unsigned int> indices(size_t n, size_t window)
{
    std::vector<unsigned int> list(n);
    std::mt19937 random(1);
    std::iota(list.begin(), list.end(), 0u);
    for (size_t start = 0; start < n; start += window)
        std::shuffle(list.begin() + (ptrdiff_t)start,
                     list.begin() + (ptrdiff_t)std::min(n, start + window), random);
    return list;
}

/* `read` is the number of bytes of src that are read for each output. */
static Row ordered(const char *order, size_t shuffled, const char *shown, double read,
                   double least_ratio)
{
    const int64_t n = 1 << 24;
    Row row;
    row.pattern = "gather";
    row.problem = {at_integer("n", n), at_text("order", order), at_integer("window", 4096),
                   at_text("dtype", "float")};
    row.shown = shown;
    row.peer = "thrust::gather";
    row.least_ratio = least_ratio;
    row.least_share = 0.95;
    row.bytes = n * (4 + read + 4);
    row.compared = "dst";
    row.make = [=](Bench &bench) -> std::function<void()> {
        const std::vector<unsigned int> list = indices(n, shuffled);
        unsigned int *index = bench.buffer<unsigned int>("index");
        check(cudaMemcpy(index, list.data(), n * sizeof *index, cudaMemcpyHostToDevice),
              "cudaMemcpy");
        const float *src = bench.buffer<float>("src");
        float *to = static_cast<float *>(bench.output);
        cudaStream_t stream = bench.stream;
        return
            [=] { thrust::gather(thrust::cuda::par_nosync.on(stream), index, index + n, src, to); };
    };
    row.shapes = [n](Bench &bench) {
        return gathers(bench, bench.buffer<float>("src"), bench.buffer<unsigned int>("index"),
                       static_cast<float *>(bench.output), (unsigned int)n);
    };
    return row;
}

std::vector<Row> rows()
{
    return {ordered("permutation", 1 << 24, "2^24 floats, random", 32, 1.04),
            ordered("local", 4096, "2^24 floats, local", 4, 1.2)};
}
