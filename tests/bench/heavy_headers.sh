#!/bin/bash
# Measures the cost of headers such as CUB's for each variant: heavy_headers.sh BUILD [NAMES]. Prints the core seconds
# for one of eight variants: compiled alone, and compiled with precompiled headers (compile/nvrtc.h).
set -eu
autotune=$1/bin/autotune
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
variants=${HEAVY_VARIANTS:-8}

pattern() { # pattern NAME INCLUDE BODY
    printf '%s\ntemplate <int N> __global__ void k(const float *src, float *dst) { %s }\n' "$2" "$3" >"$work/$1.cu.tmpl"
    cat >"$work/$1.lua" <<END
return require("autotune").pattern { name = "$1", summary = "what headers cost", problem = { n = 64 }, space = { size = at_sizes },
  kernel = { template = "$1.cu.tmpl", entry = "k<\${size}>" }, launch = { grid = 1, block = 64 } }
END
    sed -i "s/at_sizes/require('autotune').range(32, 32 * $variants, 32)/" "$work/$1.lua"
}

seconds() { # seconds NAME OPTION...: prints the core seconds of a variant
    local name=$1 TIMEFORMAT='%U %S'
    shift
    { time "$autotune" inspect "$work/$name.lua" --over size --arch sm_90 --jobs 1 "$@" >"$work/out" 2>&1; } 2>"$work/time"
    awk -v n=$variants '{ printf "%.2f", ($1 + $2) / n }' "$work/time"
}

pattern block_reduce '#include <cub/block/block_reduce.cuh>' \
    'using R = cub::BlockReduce<float, N>; __shared__ typename R::TempStorage t; dst[0] = R(t).Sum(src[threadIdx.x]);'
pattern radix_sort '#include <cub/block/block_radix_sort.cuh>' \
    'using S = cub::BlockRadixSort<float, N, 4>; __shared__ typename S::TempStorage t; float v[4] = { src[0], src[1], src[2], src[3] }; S(t).Sort(v); dst[threadIdx.x] = v[0];'
pattern cuda_std '#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>' 'cuda::std::array<float, N> a{}; a[threadIdx.x % N] = src[0]; dst[0] = a[N / 2];'
pattern cooperative '#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>' \
    'namespace cg = cooperative_groups; auto t = cg::tiled_partition<32>(cg::this_thread_block()); dst[0] = cg::reduce(t, src[threadIdx.x] * N, cg::plus<float>());'
pattern barrier '#include <cuda/barrier>
#include <cuda/pipeline>' '__shared__ cuda::barrier<cuda::thread_scope_block> b; if (threadIdx.x == 0) init(&b, N); __syncthreads(); b.arrive_and_wait(); dst[0] = src[0];'

echo "| headers | alone | read once |"
echo "|---|---|---|"
for name in ${2:-block_reduce radix_sort cuda_std cooperative barrier}; do
    alone=$(seconds $name --no-cache)
    echo "| $(grep -o '<c.*>$' "$work/$name.cu.tmpl" | head -3 | paste -sd' ' | sed 's/<\([^>]*\)>/`\1`/g') | $alone s | $(seconds $name) s |"
done
