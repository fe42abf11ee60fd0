// Exported kernels in a program that has nothing else of autotune.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "vector_add_tuned.h"

int main()
{
    const int n = 1 << 20;
    std::vector<float> x(n, 1.5f), y(n);
    float *a, *b, *c;
    if (cudaMalloc(&a, n * sizeof *a) || cudaMalloc(&b, n * sizeof *b) || cudaMalloc(&c, n * sizeof *c)) {
        std::puts("no GPU");
        return 0;
    }
    cudaMemcpy(a, x.data(), n * sizeof *a, cudaMemcpyHostToDevice);
    cudaMemcpy(b, x.data(), n * sizeof *b, cudaMemcpyHostToDevice);
    const autotune_vector_add_problem problem = {n, AUTOTUNE_VECTOR_ADD_DTYPE_FLOAT, AUTOTUNE_VECTOR_ADD_LAYOUT_PACKED};
    const autotune_vector_add_buffers buffers = {a, b, c};
    const cudaError_t error = autotune_vector_add_launch(&problem, &buffers, nullptr);
    cudaMemcpy(y.data(), c, n * sizeof *c, cudaMemcpyDeviceToHost);
    const bool right = error == cudaSuccess && y[0] == 3 && y[n - 1] == 3;
    std::puts(right ? "right" : cudaGetErrorString(error));
    return !right;
}
