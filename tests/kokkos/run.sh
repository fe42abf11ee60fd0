#!/bin/sh
# Runs a Kokkos program without and with the tool library. The library tunes the program, and a later run uses the
# decision.
#
#   run.sh TOOL WORK
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tool=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
if ! cmake -S "$here" -B "$work/build" -DCMAKE_BUILD_TYPE=Release > "$work/log" 2>&1; then
    grep 'SKIPPED' "$work/log" && exit 77
    cat "$work/log"
    exit 1
fi
cmake --build "$work/build" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
program=$work/build/program
store=$work/store
export AUTOTUNE_KOKKOS_STORE="$store"
[ "$("$program")" = "tile 256" ] || { echo "without a tool the program does not use its default"; exit 1; }
# On a busy machine, several runs may be needed for a decision.
for run in 1 2 3 4 5 6; do
    tuned=$(KOKKOS_TOOLS_LIBS=$tool "$program")
    [ -z "$(find "$store" -name '*.json' 2> /dev/null)" ] || break
done
[ "$tuned" != "tile 256" ] || { echo "the program was not tuned in $run runs"; exit 1; }
again=$(KOKKOS_TOOLS_LIBS=$tool AUTOTUNE_SITES=use "$program")
[ "$again" = "$tuned" ] || { echo "'$tuned' was decided, and '$again' is used"; exit 1; }
