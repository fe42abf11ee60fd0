#!/bin/sh
# Measures whole spaces on this machine's GPU and writes them as files for `autotune replay`. The constants of the
# search strategies are chosen with these landscapes (search/README.md).
#
# Usage: landscapes.sh BUILD_FOLDER OUTPUT_FOLDER [PATTERN...]
set -eu
build=$1
output=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- transpose dot strided misaligned spill vector_add product stencil
mkdir -p "$output"
for pattern in "$@"; do
    script=$pattern.lua
    [ ! -e "$here/landscapes/$script" ] || script=$here/landscapes/$script
    state=$(mktemp -d)
    XDG_STATE_HOME=$state "$build/bin/autotune" tune "$script" --strategy exhaustive --fixed 7 \
        --no-record --quiet --top 3 >"$output/$pattern.txt" 2>&1 || true
    journal=$(find "$state" -name '*.jsonl' | head -n 1)
    "$build/bin/autotune" convert "$journal" --format t4 | gzip -9 >"$output/$pattern.json.gz"
    rm -r "$state"
    echo "$pattern: $(grep -m 1 '^variants' "$output/$pattern.txt")"
done
