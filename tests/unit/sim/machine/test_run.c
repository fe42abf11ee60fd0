/* Runs kernels like those of the CUDA samples, compiled by NVRTC. Compares their results with
 * those of the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "sim/program/operations.h"
#include "sim_fixture.h"

static const char *const architectures[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
enum { ARCHITECTURES = 4 };

static float *new_floats(size_t n)
{
    float *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++)
        v[i] = (float)((i * 2654435761u >> 7) % 4001) / 1000.0f - 2.0f;
    return v;
}

static const char transpose_source[] =
    "extern \"C\" __global__ void transpose(const float *__restrict__ src, float *dst, int rows, "
    "int cols)\n"
    "{\n"
    "    __shared__ float tile[32][33];\n"
    "    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n"
    "    for (int j = 0; j < 32; j += 8)\n"
    "        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = src[(y + j) * cols "
    "+ x];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;\n"
    "    for (int j = 0; j < 32; j += 8)\n"
    "        if (x < rows && y + j < cols) __stcs(&dst[(y + j) * rows + x], "
    "tile[threadIdx.x][threadIdx.y + j]);\n"
    "}\n";

TEST(a_tiled_transpose_with_ragged_edges_is_exact)
{
    enum { ROWS = 70, COLS = 101 };
    for (int a = 0; a < ARCHITECTURES; a++) {
        float *src = new_floats(ROWS * COLS), *dst = calloc(ROWS * COLS, sizeof *dst);
        sim_test t;
        sim_test_init(&t, transpose_source, architectures[a], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "src", src, ROWS * COLS * 4, true));
        sim_test_u64(&t, sim_test_buffer(&t, "dst", dst, ROWS * COLS * 4, false));
        sim_test_u32(&t, ROWS);
        sim_test_u32(&t, COLS);
        sim_test_run_well(&t, 4, 3, 32, 8, 0);
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLS; x++)
                assert_true(dst[x * ROWS + y] == src[y * COLS + x]);
        sim_test_deinit(&t);
        free(src);
        free(dst);
    }
}

static const char slct_source[] =
    "extern \"C\" __global__ void choose(const float *in, unsigned *out, unsigned *flushed)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    asm(\"slct.u32.f32 %0, 1, 2, %1;\" : \"=r\"(out[i]) : \"f\"(in[i]));\n"
    "    asm(\"slct.ftz.u32.f32 %0, 1, 2, %1;\" : \"=r\"(flushed[i]) : \"f\"(in[i]));\n"
    "}\n";

TEST(slct_selects_the_first_for_zero_and_for_flushed_subnormals)
{
    float in[32] = {1.0f, 0.0f, -1.0f, -1e-40f};
    const unsigned expected[4] = {1, 1, 2, 2}, expected_flushed[4] = {1, 1, 2, 1};
    unsigned out[32] = {0}, flushed[32] = {0};
    sim_test t;
    sim_test_init(&t, slct_source, "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
    sim_test_u64(&t, sim_test_buffer(&t, "flushed", flushed, sizeof flushed, false));
    sim_test_run_well(&t, 1, 1, 32, 1, 0);
    assert_memory_equal(out, expected, sizeof expected);
    assert_memory_equal(flushed, expected_flushed, sizeof expected_flushed);
    sim_test_deinit(&t);
}

static const char tiny_source[] =
    "extern \"C\" __global__ void tiny(const float *a, const float *c, float *nearest, float *up)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    asm(\"fma.rn.ftz.f32 %0, %1, %1, %2;\" : \"=f\"(nearest[i]) : \"f\"(a[i]), \"f\"(c[i]));\n"
    "    asm(\"fma.rp.ftz.f32 %0, %1, %2, %3;\" : \"=f\"(up[i])\n"
    "        : \"f\"(a[i]), \"f\"(-a[i]), \"f\"(-c[i]));\n"
    "}\n";

/* The expected values are an H100's results of -2^-126 + a * a, rounded to nearest. */
TEST(ftz_compares_the_unrounded_result_with_the_smallest_normal_number)
{
    float a[32] = {0x1p-75f, 0x1.8p-76f, 0x1.6ap-76f, 0x1p-76f, 0x1p-126f}, c[32], nearest[32],
          up[32];
    const float expected[5] = {-0.0f, -0.0f, -0x1p-126f, -0x1p-126f, -0x1p-126f};
    const float expected_up[5] = {0.0f, 0x1p-126f, 0x1p-126f, 0x1p-126f, 0x1p-126f};
    for (int i = 0; i < 32; i++)
        c[i] = -0x1p-126f;
    sim_test t;
    sim_test_init(&t, tiny_source, "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "a", a, sizeof a, true));
    sim_test_u64(&t, sim_test_buffer(&t, "c", c, sizeof c, true));
    sim_test_u64(&t, sim_test_buffer(&t, "nearest", nearest, sizeof nearest, false));
    sim_test_u64(&t, sim_test_buffer(&t, "up", up, sizeof up, false));
    sim_test_run_well(&t, 1, 1, 32, 1, 0);
    assert_memory_equal(nearest, expected, sizeof expected);
    assert_memory_equal(up, expected_up, sizeof expected_up);
    sim_test_deinit(&t);
}

static const char reduce_source[] =
    "extern \"C\" __global__ void reduce(const float4 *a, const float4 *b, float *out, int n)\n"
    "{\n"
    "    extern __shared__ float sums[];\n"
    "    float s = 0;\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) "
    "{\n"
    "        float4 u = __ldg(a + i), v = __ldcs(b + i);\n"
    "        s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;\n"
    "    }\n"
    "    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);\n"
    "    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;\n"
    "    __syncthreads();\n"
    "    if (threadIdx.x < 32) {\n"
    "        s = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;\n"
    "        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);\n"
    "        if (threadIdx.x == 0) atomicAdd(out, s);\n"
    "    }\n"
    "}\n";

TEST(a_dot_product_by_shuffles_shared_memory_and_an_atomic_is_right)
{
    enum { N = 1000 };
    for (int k = 0; k < ARCHITECTURES; k++) {
        float *a = new_floats(N * 4), *b = new_floats(N * 4), out = 0;
        double expected = 0;
        for (int i = 0; i < N * 4; i++)
            expected += (double)a[i] * b[i];
        sim_test t;
        sim_test_init(&t, reduce_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "a", a, N * 16, true));
        sim_test_u64(&t, sim_test_buffer(&t, "b", b, N * 16, true));
        sim_test_u64(&t, sim_test_buffer(&t, "out", &out, 4, true));
        sim_test_u32(&t, N);
        sim_test_run_well(&t, 3, 1, 128, 1, 4 * 32);
        assert_true(fabs((double)out - expected) <= 1e-5 * fabs(expected));
        sim_test_deinit(&t);
        free(a);
        free(b);
    }
}

static const char histogram_source[] =
    "extern \"C\" __global__ void histogram(const unsigned char *in, unsigned *out, int n)\n"
    "{\n"
    "    __shared__ unsigned h[256];\n"
    "    for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        atomicAdd(&h[in[i]], 1u);\n"
    "    __syncthreads();\n"
    "    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(out + i, h[i]);\n"
    "}\n";

TEST(a_histogram_with_shared_and_global_atomics_is_exact)
{
    enum { N = 5001 };
    for (int k = 0; k < ARCHITECTURES; k++) {
        uint8_t *in = malloc(N);
        uint32_t out[256] = {0}, expected[256] = {0};
        for (int i = 0; i < N; i++) {
            in[i] = (uint8_t)(i * 131 >> 3);
            expected[in[i]]++;
        }
        sim_test t;
        sim_test_init(&t, histogram_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "in", in, N, true));
        sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, true));
        sim_test_u32(&t, N);
        sim_test_run_well(&t, 7, 1, 96, 1, 0);
        assert_memory_equal(out, expected, sizeof out);
        sim_test_deinit(&t);
        free(in);
    }
}

static const char scan_source[] =
    "extern \"C\" __global__ void scan(const int *in, int *out, int n)\n"
    "{\n"
    "    __shared__ int temp[2][256];\n"
    "    int t = threadIdx.x, from = 0;\n"
    "    temp[0][t] = t < n ? in[t] : 0;\n"
    "    __syncthreads();\n"
    "    for (int d = 1; d < 256; d *= 2) {\n"
    "        temp[1 - from][t] = temp[from][t] + (t >= d ? temp[from][t - d] : 0);\n"
    "        from = 1 - from;\n"
    "        __syncthreads();\n"
    "    }\n"
    "    if (t < n) out[t] = temp[from][t];\n"
    "}\n";

TEST(atomics_of_128_bits_change_both_halves_or_neither)
{
    const char *source =
        "struct alignas(16) pair { unsigned long long count, sum; };\n"
        "extern \"C\" __global__ void add(pair *p)\n"
        "{\n"
        "    pair old = *p, found = old;\n"
        "    do {\n"
        "        old = found;\n"
        "        pair fresh = {old.count + 1, old.sum + blockIdx.x * blockDim.x + threadIdx.x};\n"
        "        found = atomicCAS(p, old, fresh);\n"
        "    } while (found.count != old.count || found.sum != old.sum);\n"
        "    __shared__ pair last;\n"
        "    if (threadIdx.x == 0) last = pair{0, 0};\n"
        "    __syncthreads();\n"
        "    pair before = atomicExch(&last, pair{threadIdx.x, ~0ull - threadIdx.x});\n"
        "    if (before.count + before.sum != 0 && before.count + before.sum != ~0ull) __trap();\n"
        "}\n";
    uint64_t pair[2] = {5, 7};
    sim_test t;
    sim_test_init(&t, source, "sm_90", "add");
    sim_test_u64(&t, sim_test_buffer(&t, "p", pair, sizeof pair, true));
    sim_test_run_well(&t, 6, 1, 40, 1, 0);
    assert_int_equal(pair[0], 5 + 240);
    assert_int_equal(pair[1], 7 + 240 * 239 / 2);
    sim_test_deinit(&t);
}

TEST(a_scan_with_a_barrier_in_its_loop_is_exact)
{
    int in[250], out[250], sum = 0;
    for (int i = 0; i < 250; i++)
        in[i] = i * i % 17 - 5;
    sim_test t;
    sim_test_init(&t, scan_source, "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
    sim_test_u32(&t, 250);
    sim_test_run_well(&t, 1, 1, 256, 1, 0);
    for (int i = 0; i < 250; i++)
        assert_int_equal(out[i], sum += in[i]);
    sim_test_deinit(&t);
}

static const char matmul_source[] =
    "extern \"C\" __global__ void matmul(const float *a, const float *b, float *c, int n)\n"
    "{\n"
    "    __shared__ float s[16][16], t[16][16];\n"
    "    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < n; k += 16) {\n"
    "        s[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];\n"
    "        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];\n"
    "        __syncthreads();\n"
    "        for (int i = 0; i < 16; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    c[row * n + col] = sum;\n"
    "}\n";

TEST(a_tiled_matrix_product_equals_fused_multiply_adds)
{
    enum { N = 48 };
    float *a = new_floats(N * N), *b = new_floats(N * N), *c = calloc(N * N, 4);
    sim_test t;
    sim_test_init(&t, matmul_source, "sm_80", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "a", a, N * N * 4, true));
    sim_test_u64(&t, sim_test_buffer(&t, "b", b, N * N * 4, true));
    sim_test_u64(&t, sim_test_buffer(&t, "c", c, N * N * 4, false));
    sim_test_u32(&t, N);
    sim_test_run_well(&t, N / 16, N / 16, 16, 16, 0);
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum = fmaf(a[y * N + k], b[k * N + x], sum);
            assert_true(c[y * N + x] == sum);
        }
    }
    sim_test_deinit(&t);
    free(a);
    free(b);
    free(c);
}

static const char async_source[] =
    "#include <cuda_pipeline.h>\n"
    "extern \"C\" __global__ void copy(const float4 *a, float4 *c, int n)\n"
    "{\n"
    "    __shared__ float4 s[128];\n"
    "    int i = blockIdx.x * 128 + threadIdx.x;\n"
    "    if (i < n) __pipeline_memcpy_async(&s[threadIdx.x], a + i, 16);\n"
    "    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();\n"
    "    if ((i ^ 1) < n) c[i ^ 1] = s[threadIdx.x ^ 0];\n"
    "}\n";

TEST(asynchronous_copies_land_when_waited_for)
{
    enum { N = 256 };
    for (int k = 1; k < ARCHITECTURES; k++) {
        float *a = new_floats(N * 4), *c = calloc(N * 4, 4);
        sim_test t;
        sim_test_init(&t, async_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "a", a, N * 16, true));
        sim_test_u64(&t, sim_test_buffer(&t, "c", c, N * 16, false));
        sim_test_u32(&t, N);
        sim_test_run_well(&t, 2, 1, 128, 1, 0);
        for (int i = 0; i < N; i++)
            assert_memory_equal(&c[(i ^ 1) * 4], &a[i * 4], 16);
        assert_int_equal(t.totals.async_copy.requests, 8);
        assert_int_equal(t.totals.async_copy.sectors, 128);
        sim_test_deinit(&t);
        free(a);
        free(c);
    }
}

static const char divergent_source[] =
    "__device__ __noinline__ int collatz(int v)\n"
    "{\n"
    "    int n = 0;\n"
    "    while (v != 1) { if (v % 2) v = 3 * v + 1; else v /= 2; n++; if (n > 200) return -1; }\n"
    "    return n;\n"
    "}\n"
    "extern \"C\" __global__ void steps(int *out, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    int v;\n"
    "    switch (i % 7) {\n"
    "    case 0: v = i + 1; break;\n"
    "    case 1: v = 2 * i; break;\n"
    "    case 2: v = i * i; break;\n"
    "    case 3: v = 27; break;\n"
    "    case 4: v = 97; break;\n"
    "    case 5: v = i ^ 0x55; break;\n"
    "    default: v = 1;\n"
    "    }\n"
    "    if (v <= 0) v = 5;\n"
    "    int here = __popc(__match_any_sync(__activemask(), i % 3));\n"
    "    out[i] = collatz(v) * 100 + here;\n"
    "}\n";

static int collatz(int v)
{
    int n = 0;
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        if (++n > 200)
            return -1;
    }
    return n;
}

TEST(loops_switches_and_calls_diverge_and_meet_again)
{
    enum { N = 150 };
    for (int k = 0; k < ARCHITECTURES; k++) {
        int out[N];
        sim_test t;
        sim_test_init(&t, divergent_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
        sim_test_u32(&t, N);
        sim_test_run_well(&t, 2, 1, 96, 1, 0);
        for (int i = 0; i < N; i++) {
            const int starts[] = {i + 1, 2 * i, i * i, 27, 97, i ^ 0x55, 1};
            int v = starts[i % 7], here = 0;
            if (v <= 0)
                v = 5;
            for (int l = i / 32 * 32; l < i / 32 * 32 + 32 && l < N; l++)
                here += l % 3 == i % 3;
            assert_int_equal(out[i], collatz(v) * 100 + here);
        }
        sim_test_deinit(&t);
    }
}

static const char half_source[] =
    "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
    "extern \"C\" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *c, const "
    "float *f, __nv_bfloat16 *d, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    c[i] = __hfma2(a[i], b[i], __hadd2(a[i], __float2half2_rn(1.5f)));\n"
    "    d[i] = __hmul(__float2bfloat16(f[i]), __float2bfloat16(__low2float(a[i])));\n"
    "}\n";

TEST(half_and_bfloat16_arithmetic_rounds_once)
{
    enum { N = 64 };
    for (int k = 0; k < ARCHITECTURES; k++) {
        uint16_t a[2 * N], b[2 * N], c[2 * N], d[N];
        float *f = new_floats(N);
        for (int i = 0; i < 2 * N; i++) {
            a[i] = (uint16_t)(0x3000 + i * 37);
            b[i] = (uint16_t)(0xb123 + i * 91);
        }
        sim_test t;
        sim_test_init(&t, half_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "a", a, sizeof a, true));
        sim_test_u64(&t, sim_test_buffer(&t, "b", b, sizeof b, true));
        sim_test_u64(&t, sim_test_buffer(&t, "c", c, sizeof c, false));
        sim_test_u64(&t, sim_test_buffer(&t, "f", f, N * 4, true));
        sim_test_u64(&t, sim_test_buffer(&t, "d", d, sizeof d, false));
        sim_test_u32(&t, N);
        sim_test_run_well(&t, 1, 1, N, 1, 0);
        for (int i = 0; i < 2 * N; i++) {
            long double x = half_to_float(a[i]), y = half_to_float(b[i]);
            long double sum = half_to_float(half_from_float((float)(x + 1.5L)));
            float got = half_to_float(c[i]);
            /* No half is closer to the exact value, which is a long double. */
            long double exact = x * y + sum, error = fabsl(exact - got);
            float below = half_to_float((uint16_t)(c[i] - 1)),
                  above = half_to_float((uint16_t)(c[i] + 1));
            assert_true(error <= fabsl(exact - below) && error <= fabsl(exact - above));
        }
        for (int i = 0; i < N; i++) {
            float x = bfloat_to_float(bfloat_from_float(f[i]));
            float y = bfloat_to_float(bfloat_from_float(half_to_float(a[2 * i])));
            assert_int_equal(d[i], bfloat_from_float(x * y));
        }
        sim_test_deinit(&t);
        free(f);
    }
}

static const char special_source[] =
    "__constant__ float table[4] = {1, 2, 4, 8};\n"
    "extern \"C\" __global__ void special(const float *in, float *f, double *g, long long *q)\n"
    "{\n"
    "    int i = threadIdx.x; float x = in[i]; float local[16];\n"
    "    for (int k = 0; k < 16; k++) local[(k * 5 + i) & 15] = x * k;\n"
    "    f[i * 4] = __expf(x) + table[i & 3]; f[i * 4 + 1] = sinf(x * 100) ; f[i * 4 + 2] = "
    "rsqrtf(x * x + 1);\n"
    "    f[i * 4 + 3] = local[i & 15] / (1 + fabsf(x));\n"
    "    g[i] = sqrt((double)x * x + 2) * exp((double)x) + pow(2.5, (double)x);\n"
    "    q[i] = (long long)(x * 1e10f) / (i + 1) + __mul64hi(0x123456789abcdefLL * (i + 1), -7) + "
    "(long long)__brev(i) + __clz(i);\n"
    "}\n";

TEST(special_functions_local_arrays_and_long_integers_are_right)
{
    enum { N = 32 };
    for (int k = 0; k < ARCHITECTURES; k++) {
        float *in = new_floats(N), f[N * 4];
        double g[N];
        int64_t q[N];
        sim_test t;
        sim_test_init(&t, special_source, architectures[k], NULL);
        sim_test_u64(&t, sim_test_buffer(&t, "in", in, N * 4, true));
        sim_test_u64(&t, sim_test_buffer(&t, "f", f, sizeof f, false));
        sim_test_u64(&t, sim_test_buffer(&t, "g", g, sizeof g, false));
        sim_test_u64(&t, sim_test_buffer(&t, "q", q, sizeof q, false));
        sim_test_run_well(&t, 1, 1, N, 1, 0);
        for (int i = 0; i < N; i++) {
            double x = in[i];
            assert_true(fabs(f[i * 4] - (exp(x) + (1 << (i & 3)))) < 2e-5);
            assert_true(fabs(f[i * 4 + 1] - sin((double)(in[i] * 100))) < 2e-6);
            assert_true(fabs(f[i * 4 + 2] - 1 / sqrt(x * x + 1)) < 2e-6);
            /* local[j] holds x * k, where (5k + i) & 15 == j. */
            int at = 0;
            while (((at * 5 + i) & 15) != (i & 15))
                at++;
            assert_true(fabs(f[i * 4 + 3] - x * at / (1 + fabs(x))) < 1e-5);
            double expected = sqrt(x * x + 2) * exp(x) + pow(2.5, x);
            assert_true(fabs(g[i] - expected) < 1e-12 * (1 + fabs(expected)));
            __extension__ typedef __int128 wide;
            uint32_t reversed = 0;
            for (int bit = 0; bit < 32; bit++)
                reversed |= (uint32_t)(i >> bit & 1) << (31 - bit);
            int64_t product = (int64_t)((wide)(0x123456789abcdefLL * (i + 1)) * -7 >> 64);
            int64_t zeros = i ? __builtin_clz((unsigned)i) : 32;
            assert_true(q[i] ==
                        (int64_t)(in[i] * 1e10f) / (i + 1) + product + (int64_t)reversed + zeros);
        }
        sim_test_deinit(&t);
        free(in);
    }
}

static const char spin_source[] =
    "__device__ unsigned arrived;\n"
    "extern \"C\" __global__ void last(const int *in, int *partial, int *out)\n"
    "{\n"
    "    __shared__ bool is_last;\n"
    "    if (threadIdx.x == 0) {\n"
    "        partial[blockIdx.x] = in[blockIdx.x];\n"
    "        __threadfence();\n"
    "        is_last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;\n"
    "    }\n"
    "    __syncthreads();\n"
    "    if (is_last && threadIdx.x == 0) {\n"
    "        int sum = 0;\n"
    "        for (int i = 0; i < gridDim.x; i++) sum += ((volatile int *)partial)[i];\n"
    "        *out = sum;\n"
    "    }\n"
    "}\n";

TEST(the_last_block_sees_what_all_others_wrote)
{
    enum { BLOCKS = 40 };
    int in[BLOCKS], partial[BLOCKS], out = 0, expected = 0;
    for (int i = 0; i < BLOCKS; i++)
        expected += in[i] = i * 3 + 1;
    sim_test t;
    sim_test_init(&t, spin_source, "sm_90", NULL);
    sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
    sim_test_u64(&t, sim_test_buffer(&t, "partial", partial, sizeof partial, false));
    sim_test_u64(&t, sim_test_buffer(&t, "out", &out, sizeof out, false));
    sim_test_run_well(&t, BLOCKS, 1, 64, 1, 0);
    assert_int_equal(out, expected);
    sim_test_deinit(&t);
}

/* Denormal halves of a pair are not flushed. Instructions that would flush these halves are
 * refused. */
TEST(pairs_of_floats_are_computed_and_flushing_their_denormals_is_not_simulated)
{
    static const struct {
        const char *opcode, *operands;
        float low, high;
    } rows[] = {{"add", "p, p", 4, 6}, {"mul", "p, p", 4, 9}, {"fma", "p, p, p", 6, 12}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const bool flushes = i % 2;
        float in[2] = {2, 3}, out[2] = {0, 0};
        char ptx[1024], opcode[32];
        sim_test t;
        snprintf(opcode, sizeof opcode, "%s.rn%s.f32x2", rows[i / 2].opcode, flushes ? ".ftz" : "");
        snprintf(ptx, sizeof ptx,
                 ".version 8.6\n.target sm_100\n.address_size 64\n"
                 ".visible .entry k(.param .u64 k_in, .param .u64 k_out)\n"
                 "{\n.reg .b64 in, out, p, q;\n"
                 "ld.param.u64 in, [k_in];\nld.param.u64 out, [k_out];\n"
                 "ld.global.b64 p, [in];\n%s q, %s;\nst.global.b64 [out], q;\nret;\n}\n",
                 opcode, rows[i / 2].operands);
        sim_test_init_ptx(&t, ptx, "k");
        sim_test_u64(&t, sim_test_buffer(&t, "in", in, sizeof in, true));
        sim_test_u64(&t, sim_test_buffer(&t, "out", out, sizeof out, false));
        const sim_fault_kind fault = sim_test_run(&t, 1, 1, 1, 1, 0);
        assert_int_equal(fault, flushes ? SIM_FAULT_UNKNOWN : SIM_FAULT_NONE);
        if (flushes)
            assert_non_null(strstr(t.fault.message, opcode));
        else
            assert_true(out[0] == rows[i / 2].low && out[1] == rows[i / 2].high);
        sim_test_deinit(&t);
    }
}
