#!/usr/bin/env bash
# Does the simulated device compute what a GPU does? Usage: tests/gpu/instructions.sh [BUILD_FOLDER [DETAILS]] (default
# build/release, instructions.details in the current folder). All forms of instructions, and random programs, on both;
# what is known to differ is in instructions.txt. Then products of warps (mma) and of warpgroups (wgmma). Exit status: 0
# nothing else differs, 77 there is no GPU, else what failed.
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
"$build/tests/test_gpu_instructions" "$here/instructions.txt" "${2:-instructions.details}" || status=$?
[ "${status:-0}" = 77 ] && exit 77
"$build/tests/test_gpu_matrix" || status=$?
"$build/tests/test_gpu_warpgroup" || status=$?
exit "${status:-0}"
