#!/usr/bin/env bash
# Checks that repeated runs agree. Tunes a pattern several times with different seeds, measures all winners together at
# length, and prints how far each is behind the best. The target is 1 %.
#
#   tests/bench/ten_winners.sh [-b BUILD_FOLDER] [-n RUNS] [-d DEVICE] [-s SCRIPT] FOLDER [OPTION]...
#
# FOLDER keeps the output of each run, so a second call only makes missing runs. OPTIONs are passed to every tuning run
# (for example --budget 30s). Exit code 1 if a winner is more than 1 % behind.
set -eu
root=$(realpath "$(dirname "$0")/../..")
. "$root/tests/bench/winners.bash"
build=$root/build/release runs=10 device=cuda:0 script=$root/lua/transpose.lua
while getopts b:n:d:s: option; do
    case $option in
    b) build=$(realpath "$OPTARG") ;;
    n) runs=$OPTARG ;;
    d) device=$OPTARG ;;
    s) script=$(realpath "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
folder=${1:?usage: ten_winners.sh [-b BUILD] [-n RUNS] [-d DEVICE] [-s SCRIPT] FOLDER [OPTION]...}
shift
mkdir -p "$folder"
folder=$(realpath "$folder")

all=()
for ((seed = 1; seed <= runs; seed++)); do
    run=$folder/$seed.json
    [ -s "$run" ] || tune "$run" "$script" --seed "$seed" "$@"
    printf 'seed %2d  %s ns\n' "$seed" "$(configurations best "$run" | tr '\t' ' ')"
    all+=("$run")
done
echo
compare_winners "${all[@]}"
