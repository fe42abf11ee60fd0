#!/usr/bin/env bash
# Tests two targets of the race on a real GPU:
#   eight copies of one kernel end tied, in at least 19 of 20 runs;
#   two kernels that differ by 2 % are ordered correctly, in at least 19 of 20 runs.
#
#   tests/bench/race_gpu.sh [BUILD_FOLDER [RUNS [DEVICE [OPTION...]]]]      (build/release, 20, cuda:0)
#
# OPTIONs are passed to every run. Prints a line for each run and each target. Exit code 1 if a target is missed.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
runs=${2:-20}
device=${3:-cuda:0}
shift $(($# < 3 ? $# : 3))
options=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
failed=0

# Prints the first value of a member in the run's JSON.
member() {
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$work/run.json" | head -n 1
}

# promise NAME SCRIPT TEST: counts the runs of SCRIPT after which TEST succeeds
promise() {
    local kept=0 needed=$(((runs * 19 + 19) / 20))
    for ((seed = 1; seed <= runs; seed++)); do
        "$build/bin/autotune" "$here/$2" --device "$device" --seed "$seed" --no-record --quiet \
            --json "${options[@]}" >"$work/run.json" || { failed=1; continue; }
        local right=no
        if $3; then
            right=yes
            kept=$((kept + 1))
        fi
        printf '%-12s seed %2d  %-12s tied with %-2s  best %s ns  %s\n' "$1" "$seed" \
            "$(member verdict)" "$(tied_others)" "$(member time_ns)" "$right"
    done
    printf '%s: %d of %d runs (at least %d)\n\n' "$1" "$kept" "$runs" "$needed"
    [ "$kept" -ge "$needed" ] || failed=1
}

all_tied() {
    [ "$(member verdict)" = tied ] && [ "$(tied_others)" -eq 7 ]
}

faster_first() {
    [ "$(member cycles)" = 200000 ] && [ "$(member verdict)" != tied ]
}

# In the JSON, "tied" is a number for the run and a boolean for each variant.
tied_others() {
    sed -n 's/^ *"tied": *\([0-9][0-9]*\),\{0,1\}$/\1/p' "$work/run.json" | head -n 1
}

promise "same kernel" same_kernel.lua all_tied
promise "2 % apart" two_percent.lua faster_first
exit $failed
