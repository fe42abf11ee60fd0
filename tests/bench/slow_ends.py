#!/usr/bin/env python3
"""Measures costs and results of searches on measured landscapes, without a GPU:

  tests/bench/slow_ends.py BUILD [--seeds N] LANDSCAPE...

A LANDSCAPE is a file of results/*/landscapes/counted, a file that autotune reads (.json, .json.gz), or "synthetic".
"synthetic" is a histogram of 2192 variants. Its slowest eighth, with contended atomics in global memory, takes about
450 times as long as the best. There are two modes: every variant is checked and sampled, or hopeless variants are
abandoned after their first launch (slow_ends.c has the model of time). For each landscape and mode the script prints:
  - the share of a whole search's time for variants that are ten times slower than the best;
  - how much slower than the best the winners of quick runs are, as the median of the seeds and the worst;
  - the time of a default run, as a share of a search of the whole space, and the worst loss of its winner.
The exit code is 1 if the second mode misses a target: slow variants take at most a third, quick runs are not worse, a
default run loses at most 0.5 %, and default runs take at most 40 % in the mean.
"""
import argparse
import gzip
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

THIRD, NOISE = 1 / 3, 0.02
TIE, MOST_USUAL = 0.005, 0.4


def number(text):
    try:
        return int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text, text)


def measured(path):
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file][1:]


def t4(rows):
    """Returns a landscape as a document that the program reads."""
    return {"results": [{"configuration": {k: number(v) for k, v in (pair.split("=", 1) for pair in row["config"].split(","))},
                         "times": {}, "invalidity": "correct", "correctness": 1,
                         "measurements": [{"name": "time", "value": row["time_ns"] / 1e6, "unit": "ms"}],
                         "objectives": ["time"]} for row in rows]}


def synthetic():
    noise = random.Random(1)
    rows = []
    for where, block, items, vec, copies, blocks in itertools.product(
            ("global", "shared", "warp"), (64, 128, 256, 512, 1024), (1, 2, 4, 8, 16), (1, 2, 4, 16), (1, 2, 4, 8), (1, 2, 4, 8)):
        if (where == "global" and (copies > 1 or items > 8)) or (where == "warp" and copies * block > 2048) or items * blocks > 16 \
                or (where == "shared" and vec == 1 and copies > 2):
            continue
        threads = 132 * blocks * block
        stream = 1 + 0.8 / vec + 0.3 / items + max(0, 65536 / threads - 1)
        merge = 0.02 * copies * blocks + {"global": 0, "shared": 2.5 / copies, "warp": 0.4}[where]
        wait = 600 * (1 + 0.2 / vec) if where == "global" else 0
        rows.append({"config": "where=%s,block=%d,items=%d,vec=%d,copies=%d,blocks=%d" % (where, block, items, vec, copies, blocks),
                     "time_ns": 6e4 * (stream + merge + wait) * noise.lognormvariate(0, 0.01)})
    return rows


def judge(name, rows):
    """Prints the line of a landscape; returns whether it meets the targets."""
    ways = [[r for r in rows if r["leaves"] == leaves] for leaves in (False, True)]
    share = [max(r["slow_share"] for r in way) for way in ways]
    whole = [statistics.median(r["whole_s"] for r in way) for way in ways]
    tried = [statistics.median(r["quick_tried"] for r in way) for way in ways]
    middle = [statistics.median(r["quick_behind"] for r in way) for way in ways]
    worst = [max(r["quick_behind"] for r in way) for way in ways]
    usual = statistics.mean(r["usual_s"] / r["whole_s"] for r in ways[1])
    behind = max(r["usual_behind"] for r in ways[1])
    fine = share[1] <= THIRD and worst[1] <= worst[0] + NOISE and behind <= TIE
    print("| %s | %.1f / %.1f s | %.0f / %.0f %% | %d / %d | %.1f / %.1f %% | %.1f / %.1f %% | %.0f of %d, %.0f %% | %.2f %% |%s" % (
        name, *whole, *(100 * s for s in share), *tried, *(100 * m for m in middle), *(100 * w for w in worst),
        statistics.median(r["usual_tried"] for r in ways[1]), rows[0]["configurations"], 100 * usual, 100 * behind,
        "" if fine else " MISSED"), flush=True)
    return fine, usual


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("landscapes", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    print("| landscape | whole search | ten times slower | quick: tried | quick: behind the best, median | worst | default: tried, time | behind, worst |")
    print("|---|---|---|---|---|---|---|---|")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for path in args.landscapes:
            name = path if path == "synthetic" else "/".join((path.split("/landscapes/")[0].split("/")[-1], os.path.basename(path).split(".")[0]))
            read = path
            if ".jsonl" in path or path == "synthetic":
                read = folder + "/t4.json"
                with open(read, "w") as to:
                    json.dump(t4(synthetic() if path == "synthetic" else measured(path)), to)
            told = subprocess.run([args.build + "/tests/slow_ends", str(args.seeds), read], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout
            found.append(judge(name, [json.loads(line) for line in told.splitlines()]))
    mean = statistics.mean(usual for _, usual in found)
    print("default runs take %.0f %% of the time of whole searches in the mean" % (100 * mean))
    return 0 if all(fine for fine, _ in found) and mean <= MOST_USUAL else 1


if __name__ == "__main__":
    sys.exit(main())
