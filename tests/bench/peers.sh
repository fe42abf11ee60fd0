#!/bin/bash
# Times the recorded kernels beside the functions of other libraries for the same problem, on a GPU.
#
#   tests/bench/peers.sh [BUILD_FOLDER [RESULTS_FOLDER [PROGRAM ...]]]     (build/portable, results, all)
#
# Builds the programs of tests/bench/peers with nvcc into BUILD_FOLDER/peers (some ten seconds each, as
# many at a time as there are cores), runs one after the other and prints a line a row: medians in
# microseconds of 31 samples each in random order with a cold L2, our rate, how many times as fast as the
# peer we are (and the least that is asked), our share of a copy, or of reading the same bytes (likewise),
# and whether both are reached. The lines of torch_peers.py, which needs PyTorch, follow. A row that cannot be
# timed says why. Status 1 when there is such a row.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$root/build/portable}" && pwd)
results=$(cd "${2:-$root/results}" && pwd)
if [ $# -gt 2 ]; then shift 2; else set -- vector_add transpose matmul dot loop_order histogram gather baseline npp torch; fi
sources=$root/tests/bench/peers
programs=$build/peers
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
status=0
mkdir -p "$programs"

# compile NAME: its object; what the compiler says goes to NAME.log.
compile() {
    if [ "$programs/$1.o" -nt "$sources/$1.cu" ] && [ "$programs/$1.o" -nt "$sources/peer.h" ]; then
        return
    fi
    "$nvcc" -std=c++17 -O2 -arch="${PEERS_ARCH:-native}" -I "$root/tuner/include" -c "$sources/$1.cu" \
        -o "$programs/$1.o" >"$programs/$1.log" 2>&1 || rm -f "$programs/$1.o"
}

link() {
    libraries=
    case $1 in
    transpose | matmul | dot | loop_order) libraries=-lcublas ;;
    npp) if grep -q 'nppiCopy_8u_C3P3R_Ctx' "$programs/npp.o"; then libraries="-lnppidei -lnppif -lnppc"; fi ;;
    esac
    # shellcheck disable=SC2086
    "$nvcc" -arch="${PEERS_ARCH:-native}" "$programs/$1.o" "$programs/harness.o" -o "$programs/$1" \
        -L "$build/lib" -lautotune $libraries -Xlinker -rpath="$build/lib" >>"$programs/$1.log" 2>&1
}

compile harness &
for name in "$@"; do
    [ "$name" = torch ] || compile "$name" &
done
wait

printf '%-18s %-22s %-26s %10s %10s %16s %14s %14s\n' pattern problem peer 'ours us' 'peer us' ours \
    'of the peer' 'of the ceiling'
for name in "$@"; do
    if [ "$name" = torch ]; then
        python3 "$sources/torch_peers.py" "$build/lib/libautotune.so" "$results" || status=1
    elif ! [ -f "$programs/harness.o" ] || ! [ -f "$programs/$name.o" ] || ! link "$name"; then
        printf '%-18s failed: it does not build: %s\n' "$name" \
            "$(cat "$programs/harness.log" "$programs/$name.log" 2>/dev/null | grep -m 1 -i error)"
        status=1
    else
        timeout 300 "$programs/$name" "$results" || status=1
    fi
done
exit $status
