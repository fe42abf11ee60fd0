#!/usr/bin/env bash
# Checks that every mutant of mutants.txt has its expected outcome. Usage: run.sh BINARY [DEVICE [EVERY [JOBS [SEEDS]]]]
#
# With DEVICE check (the default), 'autotune check' must reject the mutant, without a GPU. With DEVICE cuda:0, the GPU
# is tuned with the mutant as its only variant, and nothing must be recorded. This is done with each of the seeds 1 to
# SEEDS (default 1), or of a range such as 3-5; a seed draws the data. EVERY 5 runs every fifth mutant. JOBS mutants
# run at a time (default 2). A mutant that is no mistake must be proven and recorded. Exit code 1 if a mutant has an
# unexpected outcome.
set -u
binary=$(realpath "$1")
device=${2:-check}
every=${3:-1}
jobs=${4:-2}
seeds=${5:-1}
first=1
[[ $seeds != *-* ]] || first=${seeds%-*} seeds=${seeds#*-}
here=$(dirname "$(realpath "$0")")
house=$(dirname "$(dirname "$here")")

mutate() { # mutate TEXT FROM TO: sets $mutated; "\n" stands for a line end; fails if TEXT does not contain FROM
    local from=${2//'\n'/$'\n'} to=${3//'\n'/$'\n'}
    [[ $1 == *"$from"* ]] || return 1
    mutated=${1%%"$from"*}$to${1#*"$from"}
}

# Prints the script with the configuration as its default. A budget of 1 then tries only this configuration.
with_default() { # with_default TEXT NAME=VALUE,...
    local pair name value list=""
    IFS=, read -ra pairs <<<"$2"
    for pair in "${pairs[@]}"; do
        name=${pair%%=*} value=${pair#*=}
        [[ $value =~ ^([0-9]+|true|false)$ ]] || value="\"$value\""
        list+="$name = $value, "
    done
    mutate "$1" 'local at = require "autotune"' "local at = {}
for name, f in pairs(require \"autotune\") do at[name] = f end
local make = at.pattern
function at.pattern(p) for name, v in pairs { $list} do p.baseline[name] = v end return make(p) end" &&
        printf '%s' "$mutated"
}

verdict() { # verdict, with the variables of run_one, STATUS [SEED]: reports an unexpected outcome
    local wanted=1
    [ "$8" = wrong ] || wanted=0
    [ "$9" = "$wanted" ] && return
    echo "FAIL $1 $2 $3 $4${10:-}: '$6' -> '$7': exit $9, not $wanted: $(head -c 600 out.txt)"
    cd "$here" && rm -rf "$work"
    return 1
}

run_one() { # run_one NUMBER PATTERN FILE CONFIGURATION SETTINGS FROM TO WANTED
    local work status=0 text
    work=$(mktemp -d)
    text=$(cat "$house/lua/$2.lua")
    if [[ $3 == *.lua ]]; then
        mutate "$text" "$6" "$7" || { echo "FAIL $1 ($2, $3): nothing to replace: $6"; return 1; }
        text=$mutated
    else
        mutate "$(cat "$house/templates/$3")" "$6" "$7" ||
            { echo "FAIL $1 ($2, $3): nothing to replace: $6"; return 1; }
        printf '%s\n' "$mutated" >"$work/$3"
    fi
    [ -z "$4" ] || text=$(with_default "$text" "$4")
    printf '%s\n' "$text" >"$work/$2.lua"
    cd "$work" || return 1
    local settings=()
    for setting in $5; do settings+=(--set "$setting"); done
    if [ "$device" = check ]; then
        "$binary" check "$work/$2.lua" --device sim:sm_90 --jobs 1 "${settings[@]}" >out.txt 2>&1 || status=$?
        verdict "$@" "$status" || return 1
    else
        for ((seed = first; seed <= seeds; seed++)); do
            status=0
            XDG_STATE_HOME=$work/state$seed "$binary" tune "$work/$2.lua" --device "$device" --budget 1 --quiet \
                --seed "$seed" --results "$work/results" "${settings[@]}" >out.txt 2>&1 || status=$?
            [ "$8" = harmless ] || [ -z "$(find "$work/results" -name '*.json' 2>/dev/null)" ] || status=recorded
            verdict "$@" "$status" ", seed $seed" || return 1
        done
    fi
    echo "ok   $1 $2 $3 $4"
    echo "$1" >>"$as_wanted"
    cd "$here" && rm -rf "$work"
}

# Each mutant with the expected outcome writes a line to this file. The lines are counted, because 'wait -n' can miss a
# job that ends at the same time as another, and because a run that dies writes no line.
as_wanted=$(mktemp)
trap 'rm -f "$as_wanted"' EXIT
number=0 begun=0
pattern="" file="" configuration="" settings="" from="" to=""
while IFS= read -r line || [ -n "$line" ]; do
    case $line in
    '#'* | '') ;;
    'set '*) settings=${line#set } ;;
    '-'*) from=${line#-} from=${from# } ;;
    '+'*) to=${line#+} to=${to# } ;;
    '='*)
        number=$((number + 1))
        if [ $((number % every)) -eq 0 ]; then
            run_one "$number" "$pattern" "$file" "$configuration" "$settings" "$from" "$to" "${line#= }" &
            begun=$((begun + 1))
            [ "$(jobs -rp | wc -l)" -lt "$jobs" ] || wait -n
        fi
        ;;
    *)
        read -r pattern file configuration <<<"$line"
        settings=""
        ;;
    esac
done <"$here/mutants.txt"
wait
failed=$((begun - $(wc -l <"$as_wanted")))
echo "$number mutants, every $every. of them run on $device: $failed did not end as they should"
[ "$begun" -gt 0 ] && [ "$failed" -eq 0 ]
