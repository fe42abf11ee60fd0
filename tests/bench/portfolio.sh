#!/bin/sh
# Tests portfolios on shapes that they were not made on, on a GPU:
#
#   tests/bench/portfolio.sh [BUILD_FOLDER [FOLDER [OPTION]...]]     (build/portable, FOLDER: a temporary one)
#
# For each pattern it makes a portfolio (unless FOLDER/results has one), then draws shapes that are new to it: square,
# tall, flat, prime, powers of two and any, 200 in total. The exported header chooses a configuration for each shape,
# which must be the choice of `autotune pick`. The shape is also tuned with 200 variants; then the choice, the winner
# and the default race in the same blocks. For each pattern, and for all shapes together, it prints the mean regret of
# the choice against that winner, the 95th percentile, and the share that is slower than the default, beyond 1 % of
# noise. Fails if a choice does not run or is wrong, if header and pick differ, or if a pattern misses its targets: a
# mean regret of 1.5 %, 4 % at the 95th percentile, nothing slower than the default. FOLDER keeps the measurements: a
# second call only makes the missing ones.
# OPTIONs: tests/bench/portfolio.py --help. The compiler needs cuda_runtime.h and libcudart ($CUDA_HOME).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/portable}" && pwd)
if [ $# -gt 1 ]; then folder=$2; shift 2; else folder=$(mktemp -d); set --; fi
mkdir -p "$folder"
echo "kept in $folder" >&2
exec python3 "$root/tests/bench/portfolio.py" "$build/bin/autotune" "$folder" "$@"
