#!/usr/bin/env bash
# Tests two targets of `autotune compare --race` on a real GPU:
#   of 100 pairs of the same kernel at most 1 is called SLOWER;
#   a kernel that takes 1 % longer is called SLOWER in at least 95 of 100 pairs.
#
#   tests/bench/compare_gpu.sh [BUILD_FOLDER [RUNS [DEVICE]]]      (build/release, 100, cuda:0)
#
# Every pair has its own problem, which is set up, loaded, checked and raced separately. A quarter of the pairs share a
# process, which opens the GPU once. Prints the number of each verdict. Exit code 1 if a target is missed.
set -u
here=$(dirname "$(realpath "$0")")
build=$(realpath "${1:-$here/../../build/release}")
runs=${2:-100}
device=${3:-cuda:0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
cp "$here"/two_percent.cu.tmpl "$here"/copy_ref.cu.tmpl "$work"
# problems that differ only by name, so that their kernels are compiled once
sed -e 's/{ 204000, 200000 }/{ 204000, 202000, 200000 }/' -e 's/problem = { /problem = { pair = 0, /' \
    "$here/two_percent.lua" >"$work/two_percent.lua"
cd "$work" || exit 1

python3 - "$build/bin/autotune" "$runs" "$device" <<'END'
import json, subprocess, sys, time
autotune, runs, device = sys.argv[1], int(sys.argv[2]), sys.argv[3]
# A kernel of about 100 us, and the same kernel with 1 % more cycles.
PLAIN, SLOWER = {"cycles": 200000}, {"cycles": 202000}
BATCHES = 4
VERDICTS = ["SLOWER", "SAME", "FASTER", "NOT SURE"]

def record(path, configuration, first, count):
    """What `compare` takes the winners from."""
    time_ns = {"median_ns": 1000, "low_ns": 1000, "high_ns": 1000}
    entries = [{"problem": {"pair": i}, "configuration": configuration, "time": time_ns}
               for i in range(first, first + count)]
    json.dump({"schema": "autotune-record", "version": 1, "pattern": "two_percent", "gpu": "any", "compute_capability": "9.0",
               "entries": entries}, open(path, "w"))

def race(configuration):
    """Verdicts of `runs` pairs, PLAIN against `configuration`, and the widest interval."""
    counts, widest = dict.fromkeys(VERDICTS, 0), 0
    for batch in range(BATCHES):
        first, end = (batch * runs // BATCHES, (batch + 1) * runs // BATCHES)
        if first == end:
            continue
        record("a.json", PLAIN, first, end - first)
        record("b.json", configuration, first, end - first)
        done = subprocess.run([autotune, "compare", "a.json", "b.json", "--race", "--device", device, "--seed",
                               str(1 + first), "--json"], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        for pair in json.loads(done.stdout)["comparisons"]:
            counts[pair["verdict"]] += 1
            widest = max(widest, pair["ratio_high"] - pair["ratio_low"])
    if sum(counts.values()) != runs:
        sys.exit(f"{sum(counts.values())} pairs were raced, not {runs}")
    return counts, widest

kept = True
print("| pairs of a kernel and | " + " | ".join(VERDICTS) + " | widest interval | promised | kept | seconds |")
print("|---" * (len(VERDICTS) + 5) + "|")
for name, configuration, promised, holds in (
        ("itself", PLAIN, "at most 1 % SLOWER", lambda slower: 100 * slower <= runs),
        ("itself, 1 % slower", SLOWER, "at least 95 % SLOWER", lambda slower: 100 * slower >= 95 * runs)):
    start = time.monotonic()
    counts, widest = race(configuration)
    good = holds(counts["SLOWER"])
    kept = kept and good
    print(f"| {name} | " + " | ".join(str(counts[v]) for v in VERDICTS) + f" | {100 * widest:.3f} % | {promised} | "
          f"{'yes' if good else 'NO'} | {time.monotonic() - start:.0f} |", flush=True)
sys.exit(0 if kept else 1)
END
