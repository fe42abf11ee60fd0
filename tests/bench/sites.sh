#!/bin/sh
# Tunes ten tuning sites while a program works, and runs the same program tuned by hand. Needs a GPU and nvcc.
#
#   tests/bench/sites.sh BUILD [steps] [threads] [ranks]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nvcc -O3 -cubin -arch="${SITES_ARCH:-sm_90}" -o "$folder/sites.cubin" "$here/sites.cu"
"$build/tests/sites" "$folder/sites.cubin" "$folder" "$@"
