#!/usr/bin/env python3
"""What is lost by what a script derives? Where a script says by an estimate which form or team a problem gets, each
that there is, is timed on many problems, and so is the one that it says:

  tests/bench/choices.py PROGRAM FOLDER [--choices NAME,...] [--problems N] [--device cuda:0]

Prints for each how much what is derived is slower than the fastest: in the mean, at the 95th percentile, on how many
problems by more than 4 %, and the worst. All times are kept in FOLDER/NAME.json, for who fits an estimate anew; those
that are there are not timed again. Problems of all kinds are drawn, as by portfolio.py, but others.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

from portfolio import PATTERNS, percentile, shapes_of, spelt

SLOW = 0.04

# What scripts derive, by a value of `choice`; by OWN as they do.
OWN = -1
CHOICES = {
    # Forms: 16 times the logarithm of a stretch's sectors, 4 times how often threads are halved, and that of a cluster's
    # blocks. The script's nine, and seven near these.
    "columns": {
        "pattern": "loop_order", "set": {"axis": "columns"}, "derived": "best",
        "as": "choice", "values": [0, 2, 3, 4, 16, 19, 20, 32, 34, 35, 36, 48, 49, 50, 51, 52],
        "only": {"algorithm": "tile", "block": 1024, "lanes": 32, "waves": 2, "vec": 4, "unroll": 2, "accumulators": 1},
        "hints": ("load_hint", "no_allocate", "none"),
    },
    "rows": {
        "pattern": "loop_order", "set": {"axis": "rows"}, "derived": "team",
        "as": "32 << choice", "values": range(6),
        "only": {"algorithm": "team", "block": 128, "share": 16, "waves": 0, "vec": 4, "unroll": 2, "accumulators": 1,
                 "load_hint": "streaming"},
    },
}

# Before the text of a script: what it describes gets one parameter more, on which a derived value depends.
PROLOGUE = """do
  local at = require "autotune"
  local pattern = at.pattern
  at.pattern = function(p)
    p.space.choice = { %s }
    %s
    return pattern(p)
  end
end
"""


def write_script(path, values, derive, text):
    """A script of this text, with a parameter `choice` of these values; `derive`, in Lua, changes what `p` derives."""
    with open(path, "w") as to:
        to.write(PROLOGUE % (", ".join(map(str, values)), derive) + text)
    return path


def script_of(args, name, what):
    """A copy of the script in which a choice can be made."""
    derive = 'p.derived.%(derived)s = ("choice >= 0 and %(as)s or (%%s)"):format(p.derived.%(derived)s)' % what
    return write_script(os.path.join(args.folder, name + ".lua"), [OWN, *what["values"]], derive,
                        open(os.path.join(args.scripts, what["pattern"] + ".lua")).read())


def time_all(args, script, shape, only, how):
    """The device and [(configuration, ns)] of a part of a space, each NAME=V1,V2,..., or what went wrong."""
    words = [w for one in only for w in ("--only", one)]
    done = subprocess.run(
        [args.program, script, *args.device, *spelt(shape), *words, "--strategy", "exhaustive", *how, "--no-record", "--json",
         "--quiet", "--top", "100000"], capture_output=True, text=True)
    try:
        said = json.loads(done.stdout)
        device = said["device"]["name"] + (", predicted" if said["device"]["kind"] != "cuda" else "")
        return device, [(r["config"], r["time_ns"]) for r in said["results"] if r["outcome"] == "ok"]
    except ValueError:
        return done.stderr.strip() or "exit %d" % done.returncode


def times_of(args, script, what, shape):
    """The device and {choice: ns} of a problem, or what went wrong."""
    only = dict(what["only"])
    if "hints" in what:
        name, within, beyond = what["hints"]
        only[name] = within if 4 * shape["rows"] * shape["cols"] <= args.cache_bytes else beyond
    found = time_all(args, script, shape, ["%s=%s" % (n, v) for n, v in only.items()], ["--fixed", str(args.samples)])
    return found if isinstance(found, str) else (found[0], {str(c["choice"]): ns for c, ns in found[1]})


def measure(args, name, what):
    """What was timed: [{device, problem, times}]."""
    path = os.path.join(args.folder, name + ".json")
    if os.path.exists(path):
        return json.load(open(path))
    ranges = dict(PATTERNS[what["pattern"]], **{n: [v] for n, v in what["set"].items()})
    script, shapes = script_of(args, name, what), [s for _, s in shapes_of("choices " + name, ranges, args.problems, [])]
    with concurrent.futures.ThreadPoolExecutor(args.at_once) as pool:
        found = list(pool.map(lambda shape: times_of(args, script, what, shape), shapes))
    for shape, one in zip(shapes, found):
        if isinstance(one, str):
            print("%-10s failed: %s: %s" % (name, shape, one.splitlines()[-1]))
    kept = [{"device": f[0], "problem": s, "times_ns": f[1]} for s, f in zip(shapes, found) if not isinstance(f, str)]
    if kept:
        with open(path, "w") as to:
            json.dump(kept, to)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--choices", default=",".join(CHOICES))
    parser.add_argument("--problems", type=int, default=180)
    parser.add_argument("--samples", type=int, default=20, help="of each, whose median counts (default 20)")
    parser.add_argument("--at-once", type=int, default=1,
                        help="problems whose kernels are timed side by side, and disturb each other (default 1)")
    parser.add_argument("--cache-bytes", type=float, default=50 << 20, help="of L2, for load hints (default 50 MiB)")
    parser.add_argument("--device", type=lambda name: ["--device", name], default=[])
    args = parser.parse_args()
    args.folder, args.program = os.path.abspath(args.folder), os.path.abspath(args.program)
    args.scripts = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lua")
    os.makedirs(args.folder, exist_ok=True)
    good = True
    for name in args.choices.split(","):
        what = CHOICES[name]
        losses, device = [], ""
        for one in measure(args, name, what):
            device = one["device"]
            derived = one["times_ns"].get(str(OWN))
            if derived:
                losses.append((derived / min(one["times_ns"].values()) - 1, one["problem"]))
        if not losses:
            print("%-10s nothing was timed" % name)
            good = False
            continue
        all_of = [l for l, _ in losses]
        worst = max(losses, key=lambda pair: pair[0])
        print("%-10s %s, %d problems: mean %.2f %%, 95th percentile %.1f %%, %d above %.0f %%, worst %.1f %% of %s" % (
            name, device, len(losses), 100 * sum(all_of) / len(all_of), 100 * percentile(all_of, 0.95),
            sum(l > SLOW for l in all_of), 100 * SLOW, 100 * worst[0], worst[1]))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
