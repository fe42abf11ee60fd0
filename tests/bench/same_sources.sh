#!/bin/bash
# Checks that two versions of autotune agree on the shipped patterns. Compares all valid configurations, and the
# emitted sources of some. Usage: same_sources.sh OLD NEW [COUNT [PATTERN...]]. OLD and NEW are programs, each with its
# own scripts. COUNT is the number of configurations of each pattern (25).
set -eu
old=$1 new=$2 count=${3:-25}
shift $(($# < 3 ? $# : 3))
scripts=$(dirname "$0")/../../lua
[ $# -gt 0 ] || set -- $(cd "$scripts" && grep -l 'return at.pattern' *.lua)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for pattern; do
    # sorts parameters by name, because their order is not compared
    for side in old new; do
        "${!side}" space "$pattern" --arch sm_90 --list | while IFS=, read -ra parts; do
            printf '%s\n' "${parts[@]}" | sort | paste -sd,
        done | sort >"$work/$side"
    done
    cmp -s "$work/old" "$work/new" || { echo "$pattern: other configurations"; failed=1; continue; }
    total=$(wc -l <"$work/old") compared=0
    for configuration in $(awk -v every=$(((total + count - 1) / count)) 'NR % every == 1 || every == 1' "$work/old"); do
        for side in old new; do
            "${!side}" emit "$pattern" --arch sm_90 --no-line --config "$configuration" >"$work/$side.cu"
        done
        cmp -s "$work/old.cu" "$work/new.cu" || { echo "$pattern: $configuration: another source"; failed=1; }
        compared=$((compared + 1))
    done
    echo "$pattern: $total configurations, $compared sources the same"
done
exit $failed
