#!/bin/sh
# How good is a portfolio on shapes that it was not made on? On a GPU:
#
#   tests/bench/portfolio.sh [BUILD_FOLDER [FOLDER [OPTION]...]]     (build/portable, FOLDER: a temporary one)
#
# For each pattern makes a portfolio (unless FOLDER/results has one), then draws shapes that it has not seen: square,
# tall, flat, prime, powers of two and any, 200 in all. Each is chosen for by the exported header, which must say what
# `autotune pick` says, and tuned with 200 variants; choice, winner and default then race in the same blocks. Prints for
# each pattern, and for all shapes together, the mean regret of the choice against that winner, the 95th percentile and the
# share that is slower than the default, beyond 1 % of noise. Fails where a choice does not run or is wrong, where header
# and pick differ, or where a pattern's regret is above what is asked: 1.5 % in the mean, 4 % at the 95th percentile,
# nothing slower than the default. FOLDER keeps what was measured: called again, only what is missing is.
# OPTIONs: tests/bench/portfolio.py --help. The compiler needs cuda_runtime.h and libcudart ($CUDA_HOME).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/portable}" && pwd)
if [ $# -gt 1 ]; then folder=$2; shift 2; else folder=$(mktemp -d); set --; fi
mkdir -p "$folder"
echo "kept in $folder" >&2
exec python3 "$root/tests/bench/portfolio.py" "$build/bin/autotune" "$folder" "$@"
