#!/usr/bin/env python3
"""Makes landscapes: measured times of many variants of a pattern, with the simulated device's counts.

  landscapes.py measure BUILD FOLDER [PATTERN[:N][:NAME=VALUE]...]   measures a seeded sample of N variants (400) on
  the GPU
  landscapes.py count BUILD LANDSCAPE...                             adds or renews the simulated device's counts;
  needs no GPU

A landscape is FOLDER/PATTERN.jsonl.gz. The first line has the GPU and the problem. Each other line has a
configuration, its time, and its counts. `predicted.py` judges predicted times with landscapes.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
# patterns whose spaces have a slow end come first
PATTERNS = ("histogram gather conv2d matmul:200 stencil1d rgb aos_soa loop_order dot transpose strided vector_add misaligned "
            "bank_conflict batched_transpose stencil product:160 spill:200 softmax:50 resize:50 options:50 star25:50 spmv lookup").split()


def script_of(name):
    own = os.path.join(HERE, "landscapes", f"{name}.lua")
    return own if os.path.exists(own) else f"{name}.lua"


def configuration(config):
    return ",".join(f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in config.items())


def rows_of(run):
    """Returns the measured variants in the output of `autotune tune --json`, and the first line of the landscape."""
    head = {"gpu": run["device"]["name"], "pattern": run["pattern"], "problem": run["problem"]}
    rows = [{"config": configuration(r["config"]), "time_ns": r["time_ns"]}
            for r in run["results"] if r.get("time_ns")]
    return head, rows


def read(path):
    with gzip.open(path, "rt") as f:
        return [json.loads(line) for line in f]


def write(path, lines):
    with gzip.open(path, "wt", 9) as f:
        f.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def measure(build, folder, asked):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        for one in asked or PATTERNS:
            name, *rest = one.split(":")
            count = next((r for r in rest if r.isdigit()), "400")
            changed = [a for r in rest if "=" in r for a in ("--set", r)]
            found = subprocess.run(
                [f"{build}/bin/autotune", "tune", script_of(name), "--strategy", "random", "--budget", count, "--seed", "1",
                 "--fixed", "5", "--no-record", "--quiet", "--json", "--top", "100000"] + changed,
                env=dict(os.environ, XDG_STATE_HOME=state), capture_output=True, text=True)
            try:
                head, rows = rows_of(json.loads(found.stdout))
            except (ValueError, KeyError):
                print(f"{name}: {found.stderr[-300:]}")
                continue
            write(f"{folder}/{name}.jsonl.gz", [head] + rows)
            times = sorted(r["time_ns"] for r in rows)
            print(f"{name}: {len(rows)} variants, best {times[0] / 1e3:.1f} us, "
                  f"the slowest tenth from {times[len(times) * 9 // 10] / 1e3:.1f} us")


def count(build, path):
    head, *rows = read(path)
    chip = next((c for c in ("h200", "h100", "a100") if c in head["gpu"].lower()), "sm_90")
    chosen = [r for r in rows if "launches" in r] or rows
    given = "".join(json.dumps({"config": r["config"], "time_ns": r["time_ns"]}) + "\n" for r in chosen)
    found = subprocess.run([f"{build}/tests/landscape", "features", script_of(head["pattern"]), chip] +
                           [f"{k}={v}" for k, v in head["problem"].items()],
                           input=given, stdout=subprocess.PIPE, text=True, check=True).stdout
    counted = {r["config"]: r for r in map(json.loads, found.splitlines())}
    write(path, [head] + [counted.get(r["config"], r) for r in rows])


def main(arguments):
    command, build, *rest = arguments or [""]
    if command == "measure" and rest:
        measure(build, rest[0], rest[1:])
    elif command == "count":
        for path in rest:
            count(build, path)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
