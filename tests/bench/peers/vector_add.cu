/* vector_add beside cub::DeviceTransform and, per byte, the device-to-device copy. */
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "peer.h"

struct Add {
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

static Row of(int64_t n, const char *shown)
{
    Row row;
    row.pattern = "vector_add";
    row.problem = {at_integer("n", n), at_text("dtype", "float")};
    row.shown = shown;
    row.peer = "cub::DeviceTransform";
    row.least_ratio = 1.02;
    row.least_share = 1.00;
    row.star = true;
    row.bytes = 3.0 * n * sizeof(float);
    row.compared = "c";
    row.make = [n](Bench &bench) -> std::function<void()> {
        const float *a = bench.buffer<float>("a"), *b = bench.buffer<float>("b");
        float *to = static_cast<float *>(bench.output);
        cudaStream_t stream = bench.stream;
        return [=] {
            check(
                cub::DeviceTransform::Transform(cuda::std::make_tuple(a, b), to, n, Add{}, stream),
                "cub::DeviceTransform");
        };
    };
    row.shapes = [n](Bench &bench) {
        return streams(bench, {bench.buffer<void>("a"), bench.buffer<void>("b")}, bench.output,
                       n * sizeof(float));
    };
    return row;
}

std::vector<Row> rows()
{
    return {of(1 << 26, "2^26 floats"), of(1 << 28, "2^28 floats")};
}
