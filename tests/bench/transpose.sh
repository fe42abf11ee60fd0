#!/bin/sh
# Times the recorded transposes beside cublasSgeam and the device-to-device copy, on a GPU.
#
#   tests/bench/transpose.sh [BUILD_FOLDER [RESULTS_FOLDER]]     (build/portable, results)
#
# Needs a driver and the CUDA Toolkit's cuBLAS and NVRTC. Fails if no configuration is recorded for this GPU, or if the
# results differ from those of cuBLAS. BENCH_SIZES and BENCH_OPTIONS set other sizes and options.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/portable}
results=${2:-$root/results}
status=0
# shellcheck disable=SC2086
for size in ${BENCH_SIZES:-8192 16384}; do
    "$build/tests/transpose_vs_cublas" --results "$results" ${BENCH_OPTIONS:-} "$size" "$size" || status=1
    echo
done
exit $status
