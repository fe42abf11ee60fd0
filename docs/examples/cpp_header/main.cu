// The recorded transpose of this GPU, as template arguments that are known at compile time.
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#include "tuned.h"

constexpr auto device = autotune_device_named("NVIDIA H200", 9, 0);
constexpr autotune_transpose_problem problem = {4096, 4096, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT};
constexpr auto choice = autotune_transpose_find(&device, &problem);

template <int TILE_X, int TILE_Y>
__global__ void transpose(const float *src, float *dst, int rows, int cols)
{
    __shared__ float tile[TILE_Y][TILE_X + 1];
    const int x = blockIdx.x * TILE_X, y = blockIdx.y * TILE_Y;
    for (int i = threadIdx.x; i < TILE_X * TILE_Y; i += blockDim.x)
        if (y + i / TILE_X < rows && x + i % TILE_X < cols)
            tile[i / TILE_X][i % TILE_X] = src[(y + i / TILE_X) * cols + x + i % TILE_X];
    __syncthreads();
    for (int i = threadIdx.x; i < TILE_X * TILE_Y; i += blockDim.x)
        if (x + i / TILE_Y < cols && y + i % TILE_Y < rows)
            dst[(x + i / TILE_Y) * rows + y + i % TILE_Y] = tile[i % TILE_Y][i / TILE_Y];
}

int main()
{
    constexpr int tile_x = choice.config.tile_x < 64 ? choice.config.tile_x : 64;
    constexpr int tile_y = choice.config.tile_y < 64 ? choice.config.tile_y : 64;
    std::printf("tile %d x %d\n", tile_x, tile_y);
    const int n = 4096;
    float *src, *dst;
    if (cudaMalloc(&src, sizeof(float) * n * n) || cudaMalloc(&dst, sizeof(float) * n * n)) {
        std::puts("no GPU");
        return 0;
    }
    std::vector<float> host(n * n), back(n * n);
    for (int i = 0; i < n * n; i++)
        host[i] = static_cast<float>(i % 8191);
    cudaMemcpy(src, host.data(), sizeof(float) * n * n, cudaMemcpyHostToDevice);
    const dim3 grid((n + tile_x - 1) / tile_x, (n + tile_y - 1) / tile_y);
    transpose<tile_x, tile_y><<<grid, 256>>>(src, dst, n, n);
    cudaMemcpy(back.data(), dst, sizeof(float) * n * n, cudaMemcpyDeviceToHost);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            if (back[x * n + y] != host[y * n + x]) {
                std::puts("wrong");
                return 1;
            }
    std::puts("right");
}
