#!/bin/sh
# Tests portfolios on shapes from which they were not made, on a GPU:
#
#   tests/bench/portfolio.sh [BUILD_FOLDER [FOLDER [OPTION]...]]     (build/portable, FOLDER: a temporary one)
#
# For each pattern, makes a portfolio (unless FOLDER/results has one) and draws 200 new shapes: square, tall, flat,
# prime, powers of two, and others. The exported header chooses a configuration for each shape, and `autotune pick`
# must choose the same. The shape is also tuned with 200 variants. Then the choice, the winner and the default race in
# the same blocks. For each pattern, and for all shapes together, prints the mean regret of the choice against the
# winner, the 95th percentile, and the share that is slower than the default by more than 1 % of noise. Fails if a
# choice does not run or is wrong, if header and pick differ, or if a pattern misses its targets: a mean regret of 1.5
# %, 4 % at the 95th percentile, and no choice slower than the default. FOLDER keeps the measurements, so a second call
# only makes missing ones. OPTIONs: tests/bench/portfolio.py --help. The compiler needs cuda_runtime.h and libcudart
# ($CUDA_HOME).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/portable}" && pwd)
if [ $# -gt 1 ]; then folder=$2; shift 2; else folder=$(mktemp -d); set --; fi
mkdir -p "$folder"
echo "kept in $folder" >&2
exec python3 "$root/tests/bench/portfolio.py" "$build/bin/autotune" "$folder" "$@"
