# Tests kernels with C++ names, kernels in headers, and kernels with options of nvcc.
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p own/include/lib/detail far/common
    cat >own/scaled.lua <<'END'
local at = require "autotune"
return at.pattern {
  name = "scaled", summary = "a kernel of a library of templates",
  problem = { n = 1 << 16 }, ragged = { n = 1003 }, simulated = { n = 2048 },
  space = { block = { 64, 128 }, op = { "lib::once", "lib::twice" } },
  buffers = { src = at.input { dtype = "float", count = "n" }, dst = at.output { dtype = "float", count = "n" } },
  kernel = { template = "scaled.cu.tmpl", entry = "lib::scale<${block}, ${op}>", include = "include",
             options = { "-DLEFT=1", "-O3", "-Xptxas -dlcm=cg" }, args = { "src", "dst", at.int32 "n" } },
  launches = {
    { entry = "(void(*)(float*, int))lib::clear", args = { "dst", at.int32 "n" }, grid = "ceil_div(n, 256)", block = 256 },
    { grid = "ceil_div(n, block)", block = "block" },
  },
  traffic = "8 * n",
  reference = at.reference { template = "reference.cu.tmpl" },
}
END
    echo '#include <lib/scale.cuh>' >own/scaled.cu.tmpl
    cat >own/include/lib/scale.cuh <<'END'
#pragma once
#include "detail/ops.cuh"
#include <common/index.h>
namespace lib {
__global__ void clear(float *p, int n) { if (index() < n) p[index()] = 0; }
__global__ void clear(double *p) { p[index()] = 0; }
template <int BLOCK, typename OP> __global__ void __launch_bounds__(BLOCK) scale(const float *src, float *dst, int n)
{
    int i = index();
    if (i <= n - LEFT)
        dst[i] += OP()(src[i]);
}
}
END
    cat >own/include/lib/detail/ops.cuh <<'END'
#include "../ops.h"
namespace lib { struct twice { __device__ float operator()(float x) { return times<2>(x); } }; }
END
    cat >own/include/lib/ops.h <<'END'
namespace lib {
template <int N> __device__ float times(float x) { return N * x; }
struct once { __device__ float operator()(float x) { return x + x; } };
}
END
    echo '__device__ inline int index() { return blockIdx.x * blockDim.x + threadIdx.x; }' >far/common/index.h
    cat >own/reference.cu.tmpl <<'END'
extern "C" __global__ void reference(const float *src, float *dst, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) dst[i] = 2 * src[i];
}
END
}

@test "instances of a template are proven, and an overload is launched before each" {
    tool check own/scaled.lua -I far --budget 4
    succeeds
    says "4 proven"
    tool explain own/scaled.lua -I far
    succeeds
    says "Launch 1 of 2: (void(*)(float*, int))lib::clear"
    says "Launch 2 of 2: lib::scale<64, lib::once>"
}

@test "an exported file names the instance, and nvcc compiles it" {
    tool export own/scaled.lua -I far --format cuda -o .
    fails_with 2 "need the compiler option -Xptxas -dlcm=cg, which an exported file cannot set"
    sed -i 's/, "-Xptxas -dlcm=cg"//' own/scaled.lua
    tool export own/scaled.lua -I far --format cuda -o .
    succeeds
    grep -q "return reinterpret_cast<const void \*>(lib::scale<64, lib::once>);" scaled.cu
    grep -q "return reinterpret_cast<const void \*>((void(\*)(float\*, int))lib::clear);" scaled.cu
    grep -q "#define LEFT 1" scaled.cu
    command -v nvcc || skip "there is no nvcc"
    nvcc -std=c++17 -arch=sm_90 -c scaled.cu -o scaled.o
}

@test "a fault has the header's line and the instance's name" {
    sed -i 's/-DLEFT=1/-DLEFT=0/' own/scaled.lua
    tool check own/scaled.lua --include far
    fails_with 1
    says "out of bounds in lib::scale<64, lib::once> at lib/scale.cuh:11"
}

@test "a message about an unknown entry names the nearest kernel" {
    sed -i 's/lib::scale</lib::scael</' own/scaled.lua
    tool check own/scaled.lua -I far
    fails_with 2 "lib/scale.cuh(7): error: there is no kernel 'lib::scael<64, lib::once>'; did you mean 'lib::scale<...>'"
}

@test "folders of headers outside of the script's folder are named on the command line" {
    tool check own/scaled.lua
    fails_with 2 'cannot open source file "common/index.h"'
    fails_with 2 "-I DIR"
    tool check own/scaled.lua -I nowhere
    fails_with 2 "there is none at 'nowhere'"
    sed -i 's/include = "include"/include = "..\/far"/' own/scaled.lua
    tool check own/scaled.lua
    fails_with 2 "scaled.lua:7: there is no folder '../far' in the script's"
    sed -i 's/include = "..\/far"/options = "-I..\/far"/; s/options = { .*\" }, args/args/' own/scaled.lua
    tool check own/scaled.lua
    fails_with 2 "'-I../far' is not allowed in a script"
}

@test "a text with two compiler options is refused, and shown as a list" {
    sed -i 's/options = { .*\" }, args/options = "-DLEFT=1 -DRIGHT=2", args/' own/scaled.lua
    tool check own/scaled.lua
    fails_with 2 'write a list, options = { "-DLEFT=1", "-DRIGHT=2" }'
    sed -i 's/options = "[^"]*", args/options = { "-DLEFT=1", "-DRIGHT=2" }, args/' own/scaled.lua
    tool check own/scaled.lua -I far
    [ "$status" -eq 0 ]
}
