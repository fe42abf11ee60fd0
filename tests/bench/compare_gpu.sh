#!/usr/bin/env bash
# What `autotune compare --race` promises, on a real GPU:
#   of 100 pairs of the same kernel at most 1 is called SLOWER;
#   a kernel that takes 1 % longer is called SLOWER in at least 95 of 100.
#
#   tests/bench/compare_gpu.sh [BUILD_FOLDER [RUNS [DEVICE]]]      (build/release, 100, cuda:0)
#
# Prints the verdicts' counts and ends with 1 when a promise is not kept.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
runs=${2:-100}
device=${3:-cuda:0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
cp "$here"/two_percent.cu.tmpl "$here"/copy_ref.cu.tmpl "$work"
sed 's/{ 204000, 200000 }/{ 204000, 202000, 200000 }/' "$here/two_percent.lua" >"$work/two_percent.lua"
cd "$work" || exit 1
failed=0

# The file that `compare` takes the winner from.
winner() {
    printf '{"pattern": "two_percent", "problem": {"n": 16384}, "counts": {},
             "results": [{"config": {"cycles": %s}, "outcome": "ok", "time_ns": 1000}]}' "$1"
}

# race NAME CYCLES OPERATOR COUNT: races 200,000 cycles against CYCLES; how many may or must be SLOWER.
race() {
    local slower=0 right="of $runs are SLOWER"
    for ((seed = 1; seed <= runs; seed++)); do
        "$build/bin/autotune" compare a.json "$2.json" --race --device "$device" --seed "$seed" --json >run.json ||
            { failed=1; continue; }
        ! grep -q '"verdict": "SLOWER"' run.json || slower=$((slower + 1))
    done
    printf '%s: %d %s (%s %d)\n' "$1" "$slower" "$right" "$3" "$4"
    case $3 in
    most) [ "$slower" -le "$4" ] || failed=1 ;;
    least) [ "$slower" -ge "$4" ] || failed=1 ;;
    esac
}

winner 200000 >a.json
winner 200000 >200000.json
winner 202000 >202000.json
race "the same kernel" 200000 most $(((runs + 99) / 100))
race "1 % slower" 202000 least $(((runs * 95 + 99) / 100))
exit $failed
