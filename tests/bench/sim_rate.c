/* Measures how many thread instructions the simulator executes in a second, with all checks, on two
 * host threads, and in a second of CPU time of one core. Fails below 75 million in a second of CPU
 * time. The rate of the two threads has no limit, because it depends on other programs. Kernels: a
 * tiled transpose (memory and barriers), a dot product (loads and shuffles) and a tiled matrix
 * product (shared memory and arithmetic). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim_fixture.h"

static const double least_of_core = 75e6;

static const char source[] =
    "extern \"C\" __global__ void transpose(const float *__restrict__ src, float *dst, int n)\n"
    "{\n"
    "    __shared__ float tile[32][33];\n"
    "    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = src[(y + j) * n + "
    "x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;\n"
    "    for (int j = 0; j < 32; j += 8) dst[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + "
    "j];\n"
    "}\n"
    "extern \"C\" __global__ void dot(const float *a, float *sum, int n)\n"
    "{\n"
    "    __shared__ float of_warp[8];\n"
    "    int at = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.y * 32 + threadIdx.x;\n"
    "    float s = 0;\n"
    "    for (int i = at; i < n * n / 4; i += 256 * gridDim.x * gridDim.y) {\n"
    "        float4 v = ((const float4 *)a)[i];\n"
    "        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;\n"
    "    }\n"
    "    for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
    "    if (threadIdx.x == 0) of_warp[threadIdx.y] = s;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.y > 0) return;\n"
    "    s = threadIdx.x < 8 ? of_warp[threadIdx.x] : 0;\n"
    "    for (int d = 4; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
    "    if (threadIdx.x == 0) sum[blockIdx.y * gridDim.x + blockIdx.x] = s;\n"
    "}\n"
    "extern \"C\" __global__ void product(const float *a, float *c, int n)\n"
    "{\n"
    "    __shared__ float s[32][32], t[32][32];\n"
    "    int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;\n"
    "    float sum[4] = {0, 0, 0, 0};\n"
    "    for (int k = 0; k < n; k += 32) {\n"
    "        for (int j = 0; j < 32; j += 8) {\n"
    "            s[threadIdx.y + j][threadIdx.x] = a[(row + j) * n + k + threadIdx.x];\n"
    "            t[threadIdx.y + j][threadIdx.x] = a[(k + threadIdx.y + j) * n + col];\n"
    "        }\n"
    "        __syncthreads();\n"
    "        for (int i = 0; i < 32; i++)\n"
    "            for (int j = 0; j < 4; j++) sum[j] += s[threadIdx.y + 8 * j][i] * "
    "t[i][threadIdx.x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    for (int j = 0; j < 4; j++) c[(row + 8 * j) * n + col] = sum[j];\n"
    "}\n";

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rate_of(const char *entry, uint32_t n, uint32_t side)
{
    sim_test t;
    sim_test_init(&t, source, "sm_90", entry);
    float *in = malloc((size_t)n * n * sizeof *in), *out = malloc((size_t)n * n * sizeof *out);
    assert_non_null(in);
    assert_non_null(out);
    for (size_t i = 0; i < (size_t)n * n; i++)
        in[i] = (float)(i % 101);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, (uint64_t)n * n * 4, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, (uint64_t)n * n * 4, false));
    sim_test_u32(&t, n);
    double best = 0, best_of_core = 0;
    for (int i = 0; i < 3; i++) {
        double start = now_s(CLOCK_MONOTONIC), worked = now_s(CLOCK_PROCESS_CPUTIME_ID);
        sim_test_run_well(&t, side, side, 32, 8, 0);
        double rate = (double)t.totals.threads_total / (now_s(CLOCK_MONOTONIC) - start);
        double of_core =
            (double)t.totals.threads_total / (now_s(CLOCK_PROCESS_CPUTIME_ID) - worked);
        best = rate > best ? rate : best;
        best_of_core = of_core > best_of_core ? of_core : best_of_core;
    }
    printf("%-10s %8.1f million thread instructions a second, %.1f of one core's (%.0f million of "
           "them)\n",
           entry, best / 1e6, best_of_core / 1e6, (double)t.totals.threads_total / 1e6);
    sim_test_deinit(&t);
    free(in);
    free(out);
    return best_of_core;
}

/* The only argument may be a kernel to measure. */
int main(int argc, char **argv)
{
    static const struct {
        const char *entry;
        uint32_t n, side;
    } kernels[] = {{"transpose", 1024, 32}, {"dot", 2048, 8}, {"product", 256, 8}};
    bool fine = true;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (argc < 2 || strcmp(argv[1], kernels[i].entry) == 0)
            fine =
                rate_of(kernels[i].entry, kernels[i].n, kernels[i].side) >= least_of_core && fine;
    return fine ? 0 : 1;
}
