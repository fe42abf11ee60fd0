#!/usr/bin/env bash
# Measures the time that racing saves. Tunes a pattern by racing, and with 50 samples of every variant. Prints the
# measuring time of both, and a long measurement of both winners together. The target of racing is a third of the time
# and a winner within 1 %.
#
#   tests/bench/race_vs_fixed.sh [-b BUILD_FOLDER] [-d DEVICE] [-s SCRIPT] FOLDER [OPTION]...
#
# FOLDER keeps the output of each run, so a second call only makes missing runs. OPTIONs are passed to both runs.
set -eu
root=$(realpath "$(dirname "$0")/../..")
. "$root/tests/bench/winners.bash"
build=$root/build/release device=cuda:0 script=$root/lua/transpose.lua
while getopts b:d:s: option; do
    case $option in
    b) build=$(realpath "$OPTARG") ;;
    d) device=$OPTARG ;;
    s) script=$(realpath "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
folder=${1:?usage: race_vs_fixed.sh [-b BUILD] [-d DEVICE] [-s SCRIPT] FOLDER [OPTION]...}
shift
mkdir -p "$folder"
folder=$(realpath "$folder")

# Prints the seconds in which the device took samples.
measured_s() {
    awk '$1 ~ /"(measure|race|finals)_s":/ { sub(/,$/, "", $2); sum += $2 } END { print sum }' "$1"
}

[ -s "$folder/raced.json" ] ||
    tune "$folder/raced.json" "$script" --strategy exhaustive "$@"
[ -s "$folder/fixed.json" ] ||
    tune "$folder/fixed.json" "$script" --strategy exhaustive --fixed 50 "$@"
raced=$(measured_s "$folder/raced.json") fixed=$(measured_s "$folder/fixed.json")
awk -v raced="$raced" -v fixed="$fixed" 'BEGIN {
    printf "racing measured for %.2f s, 50 samples a variant for %.2f s: %.2f times as fast", raced,
           fixed, fixed / raced
    print " (at least 3)\n"
    exit fixed < 3 * raced }' || slow=1
compare_winners "$folder/raced.json" "$folder/fixed.json"
exit "${slow:-0}"
