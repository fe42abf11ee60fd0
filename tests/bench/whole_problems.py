#!/usr/bin/env python3
"""Times all configurations of parts of a space on many problems, on a GPU, for portfolio_sets:

  tests/bench/whole_problems.py PROGRAM FILE --pattern NAME [--set NAME=VALUE]... --part NAME=V1,V2,...[:NAME=...]...
      [--problems N] [--seconds S] [--samples N] [--device cuda:0]

Problems of all kinds are drawn as in portfolio.py, but different ones, with more tall and prime ones. FILE has the
median of --samples (15) cold samples of each configuration that is possible on all problems that were timed in
--seconds (150).

results/nvidia-h200/landscapes/columns.json was made with these parameters (commit 66a5152; 82 problems):

  --pattern loop_order --set axis=columns --problems 130
  --part algorithm=tile:waves=1,2,4:block=512,1024:vec=2,4:unroll=1,2,4,8:lanes=32
  --part algorithm=tile:waves=0:block=512,1024:vec=2,4:unroll=1,8:lanes=8,16,32
"""
import argparse
import json
import subprocess
import sys
import time

from portfolio import PATTERNS, draw_all, spelt

KINDS = ("tall", "flat", "prime", "any", "square", "tall", "any", "prime", "power of two", "flat", "any")


def time_all(args, shape, only):
    """Returns the device and [(configuration, ns)] of a part of a space, each NAME=V1,V2,..., or an error message."""
    words = [w for one in only for w in ("--only", one)]
    done = subprocess.run(
        [args.program, args.pattern, *args.device, *spelt(shape), *words, "--strategy", "exhaustive", "--fixed", str(args.samples),
         "--no-record", "--json", "--quiet", "--top", "100000"], capture_output=True, text=True)
    try:
        said = json.loads(done.stdout)
        device = said["device"]["name"] + (", predicted" if said["device"]["kind"] != "cuda" else "")
        return device, [(r["config"], r["time_ns"]) for r in said["results"] if r["outcome"] == "ok"]
    except ValueError:
        return done.stderr.strip() or "exit %d" % done.returncode


def problems_of(args, fixed):
    ranges = {n: [fixed[n]] if n in fixed else v for n, v in PATTERNS[args.pattern].items()}
    return draw_all("matrix A", KINDS, ranges, args.problems)


def times_of(args, problem):
    """Returns the device and {configuration as text: ns}, or None if it failed or the time is up."""
    times, device = {}, ""
    for part in args.part:
        if time.monotonic() > args.end_s:
            return None
        found = time_all(args, problem, part.split(":"))
        if isinstance(found, str):
            print("%s: %s" % (problem, found), file=sys.stderr)
            return None
        device = found[0]
        times.update((json.dumps(c), ns) for c, ns in found[1])
    return device, times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--pattern", required=True, choices=PATTERNS)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--part", action="append", required=True)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--device", type=lambda name: ["--device", name], default=["--device", "cuda:0"])
    args = parser.parse_args()
    args.end_s = time.monotonic() + args.seconds
    problems = problems_of(args, dict(word.split("=", 1) for word in args.set))
    # One after the other, because kernels of several programs would share the GPU and slow each other.
    found = [(p, f) for p, f in ((p, times_of(args, p)) for p in problems) if f]
    if not found:
        print("nothing was timed", file=sys.stderr)
        return 1
    device, first = found[0][1]
    configurations = [c for c in first if all(c in times for _, (_, times) in found)]
    rows = [json.dumps({"problem": p, "times_ns": [times[c] for c in configurations]}) for p, (_, times) in found]
    with open(args.file, "w") as to:
        to.write('{\n "pattern": %s, "gpu": %s,\n "configurations": [\n  %s\n ],\n "problems": [\n  %s\n ]\n}\n' % (
            json.dumps(args.pattern), json.dumps(device), ",\n  ".join(configurations), ",\n  ".join(rows)))
    print("%d configurations on %d problems" % (len(configurations), len(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
