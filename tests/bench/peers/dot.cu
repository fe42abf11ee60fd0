/* dot beside cublasSdot and cub::DeviceReduce over products. */
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "cublas.h"

struct Product {
    const float *a, *b;
    __device__ float operator()(int i) const
    {
        return a[i] * b[i];
    }
};

static std::vector<Row> of(int64_t n, const char *shown)
{
    Row row;
    row.pattern = "dot";
    row.problem = {at_integer("n", n), at_text("dtype", "float")};
    row.shown = shown;
    row.least_ratio = 1.10;
    row.least_share = 0.98;
    row.star = true;
    row.bytes = 2.0 * n * sizeof(float);
    row.ceiling = Ceiling::Read;
    row.zeroed = {"result", "finished"};
    row.cleared = "result";
    row.shapes = [n](Bench &bench) {
        return streams(bench, {bench.buffer<void>("a"), bench.buffer<void>("b")}, nullptr,
                       n * sizeof(float));
    };

    /* The peer's result is a float and ours is a double, so they are not compared. */
    Row blas = row;
    blas.peer = "cublasSdot";
    blas.make = [n](Bench &bench) -> std::function<void()> {
        auto handle = new_cublas(bench);
        check_cublas(cublasSetPointerMode(handle.get(), CUBLAS_POINTER_MODE_DEVICE),
                     "cublasSetPointerMode");
        const float *a = bench.buffer<float>("a"), *b = bench.buffer<float>("b");
        float *to = static_cast<float *>(bench.memory(sizeof(float)));
        return
            [=] { check_cublas(cublasSdot(handle.get(), (int)n, a, 1, b, 1, to), "cublasSdot"); };
    };

    Row reduce = row;
    reduce.peer = "cub::DeviceReduce";
    reduce.make = [n](Bench &bench) -> std::function<void()> {
        const float *a = bench.buffer<float>("a"), *b = bench.buffer<float>("b");
        float *to = static_cast<float *>(bench.memory(sizeof(float)));
        cudaStream_t stream = bench.stream;
        const auto products =
            thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Product{a, b});
        size_t bytes = 0;
        check(cub::DeviceReduce::Sum(nullptr, bytes, products, to, (int)n, stream),
              "cub::DeviceReduce");
        void *temporary = bench.memory(bytes);
        return [=]() mutable {
            check(cub::DeviceReduce::Sum(temporary, bytes, products, to, (int)n, stream),
                  "cub::DeviceReduce");
        };
    };
    return {blas, reduce};
}

std::vector<Row> rows()
{
    std::vector<Row> list = of(1 << 26, "2^26 floats");
    for (const Row &row : of(1 << 28, "2^28 floats"))
        list.push_back(row);
    return list;
}
