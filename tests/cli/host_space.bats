# What 'new --from' tunes, and what its remarks say of values that hold for some arguments only.

load helpers

# Writes FILE.cu: a kernel that doubles n numbers, and a main with the lines of stdin, which set in, out and launch.
program() { # program FILE
    {
        printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>'
        printf '%s\n' '__global__ void twice(const float *in, float *out, int n)' '{'
        printf '%s\n' '    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];' '}'
        cat
    } >"$1"
}

@test "a block is tuned if the grid follows it or the kernel strides over the grid, and not otherwise" {
    local body
    for body in 'int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x; if (i < n) x[i] += 1;' \
        'int i = threadIdx.x + blockIdx.x * BLOCK; if (i < n) x[i] += 1;' 'int i = blockIdx.x * SIDE + threadIdx.x; float sum = 0; for (int k = 0; k < SIDE; k++) sum += x[k]; if (i < n) x[i] = sum;' \
        'for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] += 1;'; do
        cat >block.cu <<CU
#define BLOCK 256
#define SIDE 256
__global__ void add(float *x, int n) { $body }
int main() { const int n = 4000; float *x; cudaMalloc(&x, n * sizeof(float)); dim3 block, grid(16); block.x = SIDE; add<<<grid, block>>>(x, n); }
CU
        tool new --from block.cu
        succeeds
        if [[ "$body" == for* ]]; then says 'SIDE = at.pow2(64, 1024)'; else says 'space   = {}   -- no number shapes the kernel'; fi
    done
}

@test "a number that only the host's grid uses, or that multiplies an index alone, is no parameter" {
    cat >unrolled.cu <<'CU'
#define BLOCK 64
#define UNROLL 2
#define ROWS 1
#define REPEATS 4
#define ROUNDS 8
__device__ float changed(float x) { for (int k = 0; k < ROUNDS; k++) x = 2 * x + 1; return x; }
__global__ void add(float *x)
{
    x[blockIdx.x] = changed(1);
    int i = blockIdx.x * BLOCK * UNROLL * REPEATS + threadIdx.x;
    for (int k = 0; k < REPEATS; k++, i += BLOCK * UNROLL) { x[i] += 1; x[i + BLOCK] += 1; }
}
int main() { int n = 1 << 14; float *x; cudaMalloc(&x, n * sizeof(float)); add<<<n / (BLOCK * UNROLL * REPEATS * ROWS), BLOCK>>>(x); }
CU
    tool new --from unrolled.cu
    succeeds
    says 'BLOCK = at.pow2(16, 256)'
    says 'REPEATS = at.pow2(1, 16)'
    says_nothing_of 'UNROLL = '
    says_nothing_of 'ROWS = '
    says_nothing_of 'ROUNDS = '
}

@test "members of one name are variables of their own, and a macro is not an expression with its number" {
    program members.cu <<'CU'
#include <algorithm>
const int total = 1 << 12;
int main()
{
    dim3 size, block, grid;
    size.x = 64, size.y = 64, size.z = 1;
    block.x = 8, block.y = 8, block.z = 1;
    grid.x = size.x / block.x, grid.y = size.y / block.y, grid.z = size.z;
    float *in, *out;
    cudaMalloc(&in, size.x * size.y * size.z * sizeof(float));
    cudaMalloc(&out, total * sizeof(float));
    for (int i = 0; i < 4; i++) {
        int threads = 1 << i, blocks = (total + threads - 1) / threads;
        twice<<<dim3(blocks, grid.z), threads>>>(in, out, total);
    }
    twice<<<grid, block>>>(in, out, total);
}
CU
    tool new --from members.cu
    succeeds
    says 'grid = { "ceil_div(total, 1 << i)", "z" }, block = "1 << i"'
    says "i = 0,   -- members.cu:18: int i = 0, the first value in a loop"
    says 'in_ = "x * y * z"'
    sed -i '/i < 4/,/}/d' members.cu
    tool new --from members.cu
    succeeds
    says 'block = { "BLOCK_X", "BLOCK_Y" }'
    says 'grid = { "x // BLOCK_X", "y // BLOCK_Y", "z" }'
}

@test "casts of pointers, operators of vectors and library functions show what a kernel reads and writes" {
    cat >casts.cu <<'CU'
#include <curand_kernel.h>
#include <mma.h>
struct pair { float a, b; };
struct particle { float x, y; int kind; };
__global__ void k(float *in, float *unused, float *out, float *sum, half *a, float *d, curandState *state, pair *pairs, particle *all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = *reinterpret_cast<float4 *>(in + 4 * i);
    *reinterpret_cast<float4 *>(out + 4 * i) = v;
    *(sum + (int)in[i]) = pairs[i].a;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> fa;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> fc;
    nvcuda::wmma::load_matrix_sync(fa, a, 16);
    nvcuda::wmma::store_matrix_sync(d, fc, 16, nvcuda::wmma::mem_row_major);
    printf("%d", i);
    curand_init(1, i, 0, &state[i]);
    all[i].x += 1;
}
int main()
{
    int n = 1 << 10;
    float *in, *unused, *out, *sum, *d;
    half *a;
    curandState *s;
    pair *p;
    particle *q;
    cudaMalloc(&in, 4 * n * sizeof(float)), cudaMalloc(&unused, n * sizeof(float)), cudaMalloc(&out, 4 * n * sizeof(float));
    cudaMalloc(&sum, n * sizeof(float)), cudaMalloc(&a, 256 * sizeof(half)), cudaMalloc(&d, 256 * sizeof(float));
    cudaMalloc(&s, n * sizeof(curandState)), cudaMalloc(&p, n * sizeof(pair)), cudaMalloc(&q, n * sizeof(particle));
    k<<<n / 256, 256>>>(in, unused, out, sum, a, d, s, p, q);
}
CU
    tool new --from casts.cu
    succeeds
    says 'outputs = { "out", "sum", "d" }'
    says 'in_ = at.input {}'
    says 'unused = at.input {}'
    says 'a = at.input {}'
    says 'state = at.output { dtype = "uint32", count = "12 * n" }'
    says 'pairs_ = at.input { dtype = "float", count = "2 * n" }'
    says 'all = at.ask "particle *all, n structures of 12 bytes, whose members have several types'
}

@test "a remark says which size chose a branch, and for which exponent an expression holds" {
    cat >chosen.cu <<'CU'
#include <cmath>
#include <cstdlib>
#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define THREADS 256
__global__ void add(float *x, int n) { LOOP(i, n) x[i] += 1; }
__global__ void one(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
int main(int argc, char **argv)
{
    int n = 4096, block, levels = log((double)n) / log(16.0);
    if (argc > 1) n = atoi(argv[1]);
    if (n >= 2048) block = 128;
    else block = 64;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    add<<<dim3(n / (int)pow(block, levels - 1), n > 10000 /* many */ ? 4 : 2), THREADS>>>(x, n);
    one<<<1, block>>>(x, n);
}
CU
    tool new --from chosen.cu --kernel add -- 5000
    succeeds
    says 'block = 128,   -- chosen.cu:11: block = 128, chosen by n >= 2048, chosen.cu:11'
    says 'n = 5000,   -- chosen.cu:10: n = atoi(argv[1])'
    says 'grid = { "n // (block * block)", "2" }'
    says ', chosen by n > 10000, chosen.cu:15'
    says ', where levels - 1 is 2'
    says 'THREADS = at.pow2(64, 1024)'
    says_nothing_of 'argc > 1,'
    tool new --from chosen.cu --kernel one
    succeeds
    says 'no number shapes the kernel; the block may say what is computed'
}
