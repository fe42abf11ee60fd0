/* loop_order beside cub::DeviceSegmentedReduce (rows) and cublasSgemv with ones (columns). */
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cublas.h"

struct Offset {
    int cols;
    __device__ int operator()(int row) const
    {
        return row * cols;
    }
};

__global__ void fill_ones(float *to, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        to[i] = 1;
}

std::vector<Row> rows()
{
    const int64_t size = 16384;
    Row row;
    row.pattern = "loop_order";
    row.least_ratio = 1.00;
    row.least_share = 0.98;
    row.star = true;
    row.bytes = 1.0 * size * size * sizeof(float);
    row.ceiling = Ceiling::Read;
    row.compared = "dst";
    row.tolerance = 1e-4;

    Row along = row;
    along.problem = {at_integer("rows", size), at_integer("cols", size), at_text("axis", "rows"),
                     at_text("dtype", "float")};
    along.shown = "rows of 16384^2 floats";
    along.peer = "cub::DeviceSegmentedReduce";
    along.make = [size](Bench &bench) -> std::function<void()> {
        const float *src = bench.buffer<float>("src");
        float *to = static_cast<float *>(bench.output);
        cudaStream_t stream = bench.stream;
        const auto begin =
            thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Offset{(int)size});
        size_t bytes = 0;
        check(cub::DeviceSegmentedReduce::Sum(nullptr, bytes, src, to, (int)size, begin, begin + 1,
                                              stream),
              "cub::DeviceSegmentedReduce");
        void *temporary = bench.memory(bytes + 1);
        return [=]() mutable {
            check(cub::DeviceSegmentedReduce::Sum(temporary, bytes, src, to, (int)size, begin,
                                                  begin + 1, stream),
                  "cub::DeviceSegmentedReduce");
        };
    };

    Row down = row;
    down.problem = {at_integer("rows", size), at_integer("cols", size), at_text("axis", "columns"),
                    at_text("dtype", "float")};
    down.shown = "columns of 16384^2 floats";
    down.peer = "cublasSgemv with ones";
    down.make = [size](Bench &bench) -> std::function<void()> {
        auto handle = new_cublas(bench);
        const float *src = bench.buffer<float>("src");
        float *to = static_cast<float *>(bench.output);
        float *ones = static_cast<float *>(bench.memory(size * sizeof(float)));
        fill_ones<<<1, 1024, 0, bench.stream>>>(ones, (int)size);
        /* Row-major src is column-major with its sides exchanged. */
        return [=] {
            const float one = 1, zero = 0;
            check_cublas(cublasSgemv(handle.get(), CUBLAS_OP_N, (int)size, (int)size, &one, src,
                                     (int)size, ones, 1, &zero, to, 1),
                         "cublasSgemv");
        };
    };
    return {along, down};
}
