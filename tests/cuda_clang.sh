#!/bin/sh
# Prints a command with which clang compiles CUDA, with warnings as errors, for the Toolkit of the first ptxas in PATH.
# If no clang supports this Toolkit, prints a message and fails.
cuda=$(dirname "$(dirname "$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)")")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
echo '__global__ void nothing(int *out) { *out = 1; }' >"$work/nothing.cu"
for clang in clang++ $(seq -f clang++-%g 30 -1 14); do
    # /usr/local/include may link to a Toolkit's headers, which clang would find first.
    command="$clang -x cuda --cuda-path=$cuda -isystem $cuda/include --cuda-gpu-arch=sm_90 -std=c++17 -O3 -Wall -Wextra -Werror"
    command="$command -Wno-unknown-cuda-version"
    if command -v "$clang" >/dev/null && $command -c "$work/nothing.cu" -o "$work/nothing.o" 2>/dev/null; then
        echo "$command"
        exit 0
    fi
done
echo "no clang here compiles CUDA with $cuda"
exit 1
