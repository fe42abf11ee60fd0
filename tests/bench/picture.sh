#!/bin/sh
# Draws a run: every variant by rank, coloured by a parameter, beside the baseline and the copy.
#
#   autotune transpose.lua --json --top 100000 >run.json
#   tests/bench/picture.sh run.json algorithm >picture.png
#
# Needs python3 and gnuplot.
set -eu
run=$1
parameter=$2
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT

python3 - "$run" "$parameter" "$data" <<'PY'
import json, sys
run, parameter, folder = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
timed = sorted((r for r in run["results"] if r["outcome"] == "ok"), key=lambda r: -r["gbps"])
values = sorted({str(r["config"][parameter]) for r in timed})
for value in values:
    with open(f"{folder}/{value}.txt", "w") as out:
        for rank, r in enumerate(timed, 1):
            if str(r["config"][parameter]) == value:
                print(rank, r["gbps"], file=out)
problem = " ".join(f"{k}={v}" for k, v in run["problem"].items())
with open(f"{folder}/plot", "w") as plot:
    print(f'''set terminal pngcairo size 900,420 font "sans,11"
set title "{run["pattern"]} on {run["device"]["name"]}, {problem}: {len(timed):,} variants in {run["wall_s"]:.0f} s"
set xlabel "variants, fastest first"
set ylabel "GB/s"
set yrange [0:{run["ceiling_gbps"] * 1.08}]
set xrange [0:{len(timed)}]
set key bottom left
set grid ytics lc rgb "#dddddd"
set label "copy of the same bytes" at {len(timed) * 0.99},{run["ceiling_gbps"] * 1.035} right
set label "baseline" at {len(timed) * 0.99},{run["baseline"]["gbps"] * 1.035} right
plot {run["ceiling_gbps"]} with lines lc rgb "black" lw 1.5 notitle, \\
     {run["baseline"]["gbps"]} with lines lc rgb "black" dt 2 lw 1.5 notitle, \\
     ''' + ", ".join(f'"{folder}/{v}.txt" with points pt 7 ps 0.35 title "{v}"' for v in values), file=plot)
PY
gnuplot "$data/plot"
