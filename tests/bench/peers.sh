#!/bin/bash
# Times the recorded kernels beside functions of other libraries for the same problem, on a GPU.
#
#   tests/bench/peers.sh [BUILD_FOLDER [RESULTS_FOLDER [PROGRAM ...]]]     (build/release, results, all)
#
# Builds the programs of tests/bench/peers with nvcc in BUILD_FOLDER/peers, which takes about ten seconds for each
# program on a core. Then runs one program after the other and prints a line for each row. A row has medians of 31
# samples in microseconds, in random order with a cold L2; our rate; our speed relative to the peer, with the target;
# our share of the speed of a copy or of reading the same bytes, with the target; and whether both targets are reached.
# The lines of torch_peers.py, which needs PyTorch, follow. A row that cannot be timed has a message, and then the exit
# status is 1.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
results=$(cd "${2:-$root/results}" && pwd)
if [ $# -gt 2 ]; then shift 2; else set -- vector_add transpose matmul dot loop_order histogram gather baseline npp torch; fi
. "$root/tests/bench/peers.bash"
status=0
build_peers "$@"

printf '%-18s %-22s %-26s %10s %10s %16s %14s %14s\n' pattern problem peer 'ours us' 'peer us' ours \
    'of the peer' 'of the ceiling'
for name in "$@"; do
    if [ "$name" = torch ]; then
        python3 "$sources/torch_peers.py" "$build/lib/libautotune.so" "$results" || status=1
    elif ! link_peer "$name"; then
        printf '%-18s failed: it does not build: %s\n' "$name" "$(why_not "$name")"
        status=1
    else
        timeout 300 "$programs/$name" "$results" || status=1
    fi
done
exit $status
