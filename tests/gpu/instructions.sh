#!/usr/bin/env bash
# Compares results of the simulated device with those of a GPU. Usage: tests/gpu/instructions.sh [BUILD_FOLDER
# [DETAILS]] (default build/release, instructions.details in the current folder). Runs all forms of instructions and
# random programs on both; instructions.txt has the known differences. Then runs matrix products of warps (mma) and
# warpgroups (wgmma). Exit code: 0 if nothing else differs, 77 without a GPU, otherwise the code of the failure.
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
"$build/tests/test_gpu_instructions" "$here/instructions.txt" "${2:-instructions.details}" || status=$?
[ "${status:-0}" = 77 ] && exit 77
"$build/tests/test_gpu_matrix" || status=$?
"$build/tests/test_gpu_warpgroup" || status=$?
exit "${status:-0}"
