#!/usr/bin/env bash
# Tunes every pattern of this folder on a small, a medium and a large problem, each with its ragged problem. One
# variant of each pattern is right: it must win, and the others must be rejected. Usage: run.sh BINARY [DEVICE]
set -eu
autotune=$(realpath "$1")
device=${2:-cuda:0}
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

number() { # number NAME: prints the value of "NAME" in the JSON, or 0 if the JSON has no "NAME"
    local text
    text=$(grep -o "\"$1\":[0-9]*" "$work/flat.json" | head -1 | cut -d: -f2)
    echo "${text:-0}"
}

check() { # check SCRIPT SETTINGS...: tunes the script and checks its variants
    local script=$1 wrong valid
    shift
    local status=0
    "$autotune" tune "$here/$script.lua" --device "$device" --strategy exhaustive --quiet --json \
        --results "$work/results" "$@" >"$work/out.json" 2>"$work/err.txt" || status=$?
    tr -d ' \n' <"$work/out.json" >"$work/flat.json"
    valid=$(number valid)
    wrong=$(($(number wrong_result) + $(number crashed)))
    if [ "$status" -eq 0 ] && [ "$(number ok)" -eq 1 ] && [ "$wrong" -eq $((valid - 1)) ] &&
        grep -q '"best":{"config":{[^}]*"fault":"none"' "$work/flat.json"; then
        echo "ok   $script $*: $wrong of $valid rejected"
    else
        echo "FAIL $script $*: exit $status, $(number ok) ok, $wrong of $valid rejected"
        cat "$work/err.txt"
        failed=1
    fi
}

for script in missing_barrier ragged_edge square_only; do
    case $device in
    sim:*) check "$script" ;;
    *)
        check "$script" --set rows=64 --set cols=64
        check "$script"
        check "$script" --set rows=8192 --set cols=8192
        ;;
    esac
done
for script in stale_output write_outside cancelling_pair zeros_only; do
    case $device in
    sim:*) check "$script" ;;
    *)
        check "$script" --set n=4096
        check "$script"
        check "$script" --set n=67108864
        ;;
    esac
done
exit $failed
