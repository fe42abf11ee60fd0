/* How many thread instructions a second the simulator executes, all checks on, on two host threads.
 * Fails under 100 million. Kernels: a tiled transpose (memory and barriers) and a tiled matrix
 * product (shared memory and arithmetic). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim_fixture.h"

static const double least = 100e6;

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

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rate_of(const char *entry, uint32_t n)
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
    double best = 0;
    for (int i = 0; i < 3; i++) {
        double start = now_s();
        sim_test_run_well(&t, n / 32, n / 32, 32, 8, 0);
        double rate = (double)t.totals.threads_total / (now_s() - start);
        best = rate > best ? rate : best;
    }
    printf("%-10s %8.1f million thread instructions a second (%.0f million of them)\n", entry,
           best / 1e6, (double)t.totals.threads_total / 1e6);
    sim_test_deinit(&t);
    free(in);
    free(out);
    return best;
}

int main(void)
{
    double transpose = rate_of("transpose", 1024), product = rate_of("product", 256);
    return transpose >= least && product >= least ? 0 : 1;
}
