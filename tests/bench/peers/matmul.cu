/* matmul beside cublasSgemm without TF32. */
#include "cublas.h"

static Row product(int64_t size, double least_ratio)
{
    Row row;
    row.pattern = "matmul";
    row.problem = {at_integer("m", size), at_integer("n", size), at_integer("k", size),
                   at_text("dtype", "float")};
    row.shown = std::to_string(size) + "^2 floats";
    row.peer = "cublasSgemm, no TF32";
    row.least_ratio = least_ratio;
    row.bytes = 3.0 * size * size * sizeof(float);
    row.flops = 2.0 * size * size * size;
    row.ceiling = Ceiling::None;
    row.compared = "c";
    row.tolerance = 2e-5;
    row.make = [size](Bench &bench) -> std::function<void()> {
        auto handle = new_cublas(bench);
        check_cublas(cublasSetMathMode(handle.get(), CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
        const float *a = bench.buffer<float>("a"), *b = bench.buffer<float>("b");
        float *to = static_cast<float *>(bench.output);
        /* The default mode rounds no operand. Row-major matrices are column-major ones transposed:
         * c' = b' a'. */
        return [=] {
            const float one = 1, zero = 0;
            const int s = (int)size;
            check_cublas(cublasSgemm(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, s, s, s, &one, b, s, a,
                                     s, &zero, to, s),
                         "cublasSgemm");
        };
    };
    return row;
}

std::vector<Row> rows()
{
    return {product(4096, 0.85)};
}
