// A program that uses exported kernels and no other part of autotune.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "vector_add_tuned.h"

int main()
{
    const int n = 1 << 20;
    std::vector<float> x(n, 1.5f), y(n);
    float *a, *b, *c;
    const std::size_t bytes = n * sizeof(float);
    if (cudaMalloc(&a, bytes) || cudaMalloc(&b, bytes) || cudaMalloc(&c, bytes)) {
        std::puts("no GPU");
        return 0;
    }
    cudaMemcpy(a, x.data(), bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, x.data(), bytes, cudaMemcpyHostToDevice);
    const autotune_vector_add_problem problem = {n, AUTOTUNE_VECTOR_ADD_DTYPE_FLOAT};
    const autotune_vector_add_buffers buffers = {a, b, c};
    const cudaError_t error = autotune_vector_add_launch(&problem, &buffers, nullptr);
    cudaMemcpy(y.data(), c, bytes, cudaMemcpyDeviceToHost);
    const bool right = error == cudaSuccess && y[0] == 3 && y[n - 1] == 3;
    std::puts(right ? "right" : cudaGetErrorString(error));
    return !right;
}
