#!/usr/bin/env bash
# Tests captured launches on a GPU. Only variants that compute all elements are right, even if the program ran the
# kernel before. Usage: tests/gpu/captured.sh [BUILD_FOLDER] (default build/release). Needs nvcc. Exit code: 0 if
# all passed, 77 without a GPU or nvcc, otherwise the code of the failure.
set -u
here=$(dirname "$(realpath "$0")")
autotune=$(realpath "${1:-$here/../../build/release}")/bin/autotune
command -v nvcc >/dev/null && "$autotune" devices 2>/dev/null | grep -q cuda: || { echo "captured: no GPU or no nvcc"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0

# MODE 0 computes all elements, 1 no element, 2 half of each row, and 3 one wrong element. IN_PLACE: the results
# overwrite the rows.
cat >norm.cu <<'CUDA'
#include <cstdio>
#include <cstdlib>
/* autotune
space  = { BLOCK = { 128, 256 }, MODE = { 0, 1, 2, 3 } }
launch = { grid = "rows", block = "BLOCK" }
kernel = { entry = "scale_rows" }
*/
#ifndef BLOCK
#define BLOCK 128
#endif
#ifndef MODE
#define MODE 0
#endif
__global__ void scale_rows(float *x, float *y, const float *w, int rows, int cols, float eps)
{
    __shared__ float part[32];
    float *row = x + (size_t)blockIdx.x * cols, *out = y + (size_t)blockIdx.x * cols;
    float s = 0.f;
    if (MODE == 1)
        return;
    for (int i = threadIdx.x; i < cols; i += BLOCK)
        s += row[i] * row[i];
    for (int o = 16; o; o >>= 1)
        s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < BLOCK / 32 ? part[threadIdx.x] : 0.f;
        for (int o = 16; o; o >>= 1)
            s += __shfl_down_sync(~0u, s, o);
        if (threadIdx.x == 0)
            part[0] = rsqrtf(s / cols + eps);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (MODE == 2 ? cols / 2 : cols); i += BLOCK)
        out[i] = MODE == 3 && blockIdx.x == rows / 2 && i == 7 ? 2 : row[i] * part[0] * w[i];
}
int main(int argc, char **argv)
{
    const int rows = 4096, cols = 2048, launches = atoi(argv[1]);
    const size_t n = (size_t)rows * cols;
    float *x, *y, *w, *host = (float *)malloc(n * sizeof(float));
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&w, cols * sizeof(float));
    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i * 2654435761u % 2001) / 1000 - 1.0005f;
    cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(w, host, cols * sizeof(float), cudaMemcpyHostToDevice);
    float *to = argc > 2 ? x : y;
    for (int i = 0; i < launches; i++)
        scale_rows<<<rows, 128>>>(x, to, w, rows, cols, 1e-5f);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
CUDA
nvcc -o norm norm.cu || exit 1

# expect NAME NTH ARGUMENT...: checks launch NTH of the program. Two of the eight variants must be right, and the
# best must compute all elements.
expect() {
    local name=$1 nth=$2 said
    shift 2
    rm -rf seen
    "$autotune" capture -o seen --kernel scale_rows --nth "$nth" -- ./norm "$@" >/dev/null || { echo "FAIL $name: no capture"; failed=1; return; }
    said=$("$autotune" norm.cu --captured seen --device cuda:0 --no-record --quiet 2>&1)
    if grep -q '^variants *8 tried .*: 2 ok, 6 wrong_result' <<<"$said" && grep -q 'MODE=0' <<<"$said"; then
        echo "ok   $name"
    else
        echo "FAIL $name: $said"
        failed=1
    fi
}

expect "the first launch" 1 1
expect "the tenth launch on the same data" 10 10
expect "in place, the first launch" 1 1 in_place
exit $failed
