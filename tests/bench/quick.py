#!/usr/bin/env python3
"""Checks that quick runs are quick and find good variants, on a GPU with records:

  tests/bench/quick.py PROGRAM RECORDS [--patterns NAME,...] [--runs N] [--device cuda:0]

NAME is a pattern, or the path of a script without its ".lua". Each run has empty caches, journals and records, in a
new folder. Its winner then races against the winner of RECORDS, in the same blocks, unless both are the same. For
each run it prints the seconds from the command to its end, and by how much its winner is slower than the recorded
one. Exit code 1 if a run takes over 3 s or loses over 1 %.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

PATTERNS = ("vector_add,strided,misaligned,aos_soa,rgb,transpose,batched_transpose,dot,stencil1d,conv2d,matmul,"
            "loop_order,gather,histogram,bank_conflict,spill,transfer")
SECONDS, BEHIND = 3.0, 0.01


def run(words, folder, **more):
    environment = dict(os.environ, XDG_CACHE_HOME=folder + "/cache", XDG_STATE_HOME=folder + "/state",
                       AUTOTUNE_RESULTS=folder + "/results", **more)
    start = time.monotonic()
    done = subprocess.run(words, capture_output=True, text=True, env=environment, cwd=folder)
    seconds = time.monotonic() - start
    try:
        return json.loads(done.stdout), seconds
    except ValueError:
        sys.exit("%s: %s" % (" ".join(words), done.stderr.strip() or "exit %d" % done.returncode))


def race(args, pattern, quick, recorded, folder):
    """Returns by how much the quick winner is slower than the recorded one, both in one race."""
    path = os.path.join(folder, "pair.json")
    with open(path, "w") as to:
        json.dump(dict(quick, results=[quick["best"], dict(quick["best"], config=recorded)]), to)
    raced, _ = run([args.program, pattern, "--device", args.device, "--json", "--quiet", "--no-record", "--warm-start",
                    path, "--budget", "3", "--top", "10"], folder)
    times = [next((r["time_ns"] for r in raced["results"] if r["config"] == config and r.get("time_ns")), None)
             for config in (quick["best"]["config"], recorded)]
    return times[0] / times[1] - 1 if all(times) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("records", type=os.path.abspath)
    parser.add_argument("--patterns", default=PATTERNS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--device", default="cuda:0")
    args = parser.parse_args()
    missed = 0
    for script in args.patterns.split(","):
        name = os.path.basename(script)
        for _ in range(args.runs):
            with tempfile.TemporaryDirectory() as folder:
                os.mkdir(folder + "/results")
                pattern = script + ".lua"
                quick, seconds = run([args.program, pattern, "--effort", "quick", "--no-record", "--json", "--quiet",
                                      "--device", args.device], folder)
                recorded, _ = run([args.program, "pick", name, "--gpu", quick["device"]["name"], "--results",
                                   args.records, "--json"], folder)
                best = quick["best"]["config"]
                same = best == recorded["configuration"]
                behind = 0.0 if same else race(args, pattern, quick, recorded["configuration"], folder)
                bad = seconds > SECONDS or behind is None or behind > BEHIND
                missed += bad
                print("%-18s %5.2f s  %4d tried  %s%s" % (
                    name, seconds, sum(quick["counts"].values()), "the recorded winner" if same else
                    "not timed" if behind is None else "%+.2f %%" % (100 * behind), "  MISSED" if bad else ""), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
