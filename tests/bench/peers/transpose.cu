/* transpose and batched_transpose beside cublasSgeam. */
#include "cublas.h"

/* Row-major src is column-major with its sides exchanged. The second operand has the factor 0. */
static void geam(cublasHandle_t handle, const float *src, float *dst, int rows, int cols)
{
    const float one = 1, zero = 0;
    check_cublas(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, src, cols, &zero,
                             dst, rows, dst, rows),
                 "cublasSgeam");
}

static Row single(int64_t size, double least_share)
{
    Row row;
    row.pattern = "transpose";
    row.problem = {at_integer("rows", size), at_integer("cols", size), at_text("dtype", "float")};
    row.shown = std::to_string(size) + "^2 floats";
    row.peer = "cublasSgeam";
    row.least_ratio = 1.03;
    row.least_share = least_share;
    row.star = true;
    row.star_ratio = 1.01;
    row.bytes = 2.0 * size * size * sizeof(float);
    row.compared = "dst";
    row.make = [size](Bench &bench) -> std::function<void()> {
        auto handle = new_cublas(bench);
        const float *src = bench.buffer<float>("src");
        float *to = static_cast<float *>(bench.output);
        return [=] { geam(handle.get(), src, to, (int)size, (int)size); };
    };
    row.shapes = [size](Bench &bench) {
        return tiles(bench, bench.buffer<void>("src"), bench.output, (unsigned int)size);
    };
    return row;
}

std::vector<Row> rows()
{
    const int batch = 4096, size = 64;
    Row batched;
    batched.pattern = "batched_transpose";
    batched.problem = {at_integer("batch", batch), at_integer("rows", size),
                       at_integer("cols", size), at_text("dtype", "float")};
    batched.shown = "4096 x 64x64 floats";
    batched.peer = "cublasSgeam in a loop";
    batched.least_ratio = 1.5;
    batched.least_share = 0.90;
    batched.bytes = 2.0 * batch * size * size * sizeof(float);
    batched.compared = "dst";
    batched.make = [=](Bench &bench) -> std::function<void()> {
        auto handle = new_cublas(bench);
        const float *src = bench.buffer<float>("src");
        float *to = static_cast<float *>(bench.output);
        return [=] {
            for (int i = 0; i < batch; ++i)
                geam(handle.get(), src + (size_t)i * size * size, to + (size_t)i * size * size,
                     size, size);
        };
    };
    return {single(8192, 0.975), single(16384, 0.975), batched};
}
