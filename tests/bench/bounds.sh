#!/bin/bash
# Measures each recorded kernel on this machine's GPU and, in the same run, the highest speed that it can reach.
#
#   tests/bench/bounds.sh [BUILD_FOLDER [RESULTS_FOLDER [PROGRAM ...]]]     (build/release, results, all)
#
# Prints Markdown (results/*/bounds.md): the rows of peers.sh beside the fastest of many kernels that move the same
# bytes, and the speed of the memory for reads that are not in order (peers/memory.cu). A row that fails has a message,
# and then the exit status is 1.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/release}" && pwd)
results=$(cd "${2:-$root/results}" && pwd)
if [ $# -gt 2 ]; then shift 2; else set -- vector_add dot transpose gather baseline npp memory; fi
. "$root/tests/bench/peers.bash"
status=0
build_peers "$@"

# run NAME OPTION...: prints the rows of a program. Status 1 means that a row failed and has a message.
run() {
    local code=0
    if ! link_peer "$1"; then
        echo "| $1 | failed: it does not build: $(why_not "$1") |"
        status=1
        return
    fi
    timeout 120 "$programs/$1" "${@:2}" || code=$?
    if [ $code -gt 1 ]; then
        echo "| $1 | failed: it ended with status $code |"
    fi
    if [ $code -gt 0 ]; then
        status=1
    fi
}

cat <<END
# What recorded kernels can at most reach, $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)

By \`tests/bench/bounds.sh build/release results\`, in one run. Beside the kernel and its peer are timed many kernels that move
the same bytes and do nothing else (\`tests/bench/peers/shapes.cu\`), in random order with a cold L2; \`shape us\` is the
fastest of them. "At most" is what the faster of ours and that kernel has of the peer or of the ceiling (a copy, or a read,
of the same bytes): **no** where what is asked is more, "open" where it is not, and yet was not reached.

END
echo "| pattern | problem | peer | us | peer us | shape us | asked of the peer | reached | at most |" \
    "asked of the ceiling | reached | at most | fastest shape | what forbids it |"
echo "|$(printf ' --- |%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14)"
memory=
for name in "$@"; do
    if [ "$name" = memory ]; then
        memory=asked
    else
        run "$name" --bounds "$results"
    fi
done
if [ -n "$memory" ]; then
    printf '\n## Reads that are not in order\n'
    run memory
fi
exit $status
