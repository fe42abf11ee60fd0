# Tests that nvcc, clang and host compilers compile exported files.

load helpers

setup_file() {
    if ! CUDA_CLANG=$("$BATS_TEST_DIRNAME/../cuda_clang.sh"); then
        export WITHOUT_CLANG=$CUDA_CLANG
    fi
    export CUDA_CLANG
}

clang_or_skip() {
    [ -z "${WITHOUT_CLANG:-}" ] || skip "$WITHOUT_CLANG"
}

@test "nvcc compiles the output of emit --best unchanged, and the output says how to launch it" {
    command -v nvcc >/dev/null || skip "there is no nvcc"
    cp "$FIXTURES"/luma* .
    tool emit luma.lua --best --arch sm_90 -o luma.cu
    succeeds
    grep -q '^// luma: grid 16384 x 1 x 1, block 256 x 1 x 1, 0 bytes of dynamic shared memory' luma.cu
    grep -q '^//   arguments: rgb, luma, 12 bytes 0x' luma.cu
    nvcc -std=c++17 -arch=sm_90 -c luma.cu -o luma.o
}

@test "a choice is a template argument in C++17, and can be made in device code with nvcc" {
    # This pattern has few records. For the transpose, ptxas would take 10 s.
    tool export strided --results "$BATS_TEST_DIRNAME/../../results" -o tuned.h
    succeeds
    cat >use.cu <<'END'
#include "tuned.h"
constexpr autotune_device h200()
{
    autotune_device d = {};
    d.name = "NVIDIA H200";
    d.major = 9;
    return d;
}
constexpr autotune_device device = h200();
constexpr autotune_strided_problem problem = {};
constexpr autotune_strided_choice choice = autotune_strided_find(&device, &problem);
template <int block> struct several { int values[block]; };
several<(int)choice.config.block> some;
#ifdef __CUDACC__
template <int block> __global__ void fixed(int *out) { *out = block; }
template __global__ void fixed<(int)choice.config.block>(int *out);
__global__ void picks(const autotune_device *d, const autotune_strided_problem *p, int *out)
{
    *out = (int)autotune_strided_find(d, p).config.block;
}
#endif
END
    for compiler in c++ clang++; do
        ! command -v $compiler >/dev/null || $compiler -std=c++17 -Wall -Wextra -x c++ -fsyntax-only use.cu
    done
    command -v nvcc >/dev/null || skip "there is no nvcc"
    nvcc -std=c++17 -arch=sm_90 -cubin use.cu -o use.cubin # nvcc compiles the device code; the command above compiles only host code
}

@test "clang compiles recorded kernels of two installed patterns without a warning, as PTX and from their sources" {
    clang_or_skip
    # One file has both patterns, because the Toolkit's headers take most of the time.
    tool export transpose dot --results "$BATS_TEST_DIRNAME/../../results" --format cuda -o tuned.cu
    succeeds
    $CUDA_CLANG --cuda-device-only -c tuned.cu -o tuned.o
    $CUDA_CLANG -DAUTOTUNE_CLANG_COMPILES -fsyntax-only tuned.cu
}

# Writes a pattern that uses vectors of 16 bytes and cache hints, which clang and nvcc declare differently.
vectors() {
    cat >vectors.lua <<'END'
local at = require "autotune"
return at.pattern { name = "vectors", problem = { n = 1024 }, space = { block = { 128 } }, baseline = { block = 128 },
  buffers = { from = at.input { dtype = "float", count = "n" }, to = at.output { dtype = "float", count = "n" } },
  kernel = { template = "vectors.cu.tmpl", entry = "vectors", args = { "from", "to", at.int32 "n // 4" } },
  launch = { grid = "n // 4 // block", block = "block" } }
END
    cat >vectors.cu.tmpl <<'END'
__constant__ float4 ones = {1, 1, 1, 1};
__device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
struct pair {
    double2 first;
    int4 second;
};
extern "C" __global__ void vectors(const float4 *__restrict__ from, float4 *__restrict__ to, int n)
{
    __shared__ float4 tile[${block}];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 zero = {}, two{2, 2, 2, 2};
    float4 v = i < n ? from[i] : make_float4(0, 0, 0, 0);
    tile[threadIdx.x] = v;
    __syncthreads();
    v = tile[threadIdx.x ^ 1] + zero;
    pair p = {{1, 2}, {3, 4, 5, 6}}, q = p;
    q.second.x += static_cast<int>(__ldg(from + i).x + __ldcs(from + i).y + __ldcg(&from[i].z));
    float *parts = reinterpret_cast<float *>(&v);
    parts[1] += static_cast<float>(q.second.x + p.first.y);
    union {
        uint4 bits;
        float values[4];
    } u;
    u.bits = reinterpret_cast<const uint4 *>(from)[i];
    v.z += u.values[3];
    if (i < n)
        __stcs(to + i, v + two + ones);
}
END
}

@test "vectors and cache hints work the same with clang and nvcc, and a vector of 16 bytes is one access" {
    vectors
    tool export vectors.lua --format cuda -o vectors.cu
    succeeds
    ! command -v nvcc >/dev/null || nvcc -std=c++17 -arch=sm_90 -c vectors.cu -o vectors.o
    clang_or_skip
    compiler="$CUDA_CLANG -DAUTOTUNE_CLANG_COMPILES"
    $compiler -c vectors.cu -o vectors.o
    $compiler --cuda-device-only -S vectors.cu -o vectors.ptx
    grep -q 'st.shared.v4' vectors.ptx
    grep -q 'ld.shared.v4' vectors.ptx
    lacks 'ld.shared.u64\|st.shared.u64' vectors.ptx
}
