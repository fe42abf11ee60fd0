#!/usr/bin/env python3
"""How well predicted times order measured ones: predicted.py BUILD [--device DEVICE.json] LANDSCAPE...

A LANDSCAPE is a file FOLDER/PATTERN.jsonl(.gz) with features (tests/bench/landscape.c); the first
line names the GPU it was measured on. No GPU is needed. For each, beside how many variants it has
and how much slower its slowest tenth begins than its best: Spearman's rank correlation of predicted
with measured time; how much slower than the best measured the first predicted is, and the best of
the first 20; the mean error of time; how many measured times are in the interval of their prediction.
Last, the bars that are missed."""
import gzip
import json
import os
import subprocess
import sys


def lines_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as f:
        return f.read().splitlines()


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in range(i, j):
            out[order[k]] = (i + j - 1) / 2
        i = j
    return out


def spearman(a, b):
    x, y = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    top = sum((p - mean) * (q - mean) for p, q in zip(x, y))
    below = (sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y)) ** 0.5
    return top / below if below > 0 else 0.0


def judge(rows):
    """rows: (measured, predicted, terms, configuration, whether measured is in the interval)"""
    measured = [r[0] for r in rows]
    best = min(measured)
    order = sorted(rows, key=lambda r: r[1])
    tenth = sorted(measured)[len(measured) * 9 // 10] / best
    return {
        "n": len(rows),
        "slow": tenth,
        "rank": spearman(measured, [r[1] for r in rows]),
        "first": order[0][0] / best - 1,
        "of20": min(r[0] for r in order[:20]) / best - 1,
        "error": sum(abs(r[1] / r[0] - 1) for r in rows) / len(rows),
        "within": sum(r[4] for r in rows) / len(rows),
        # What memory bounds: DRAM or latency is the longest term of most of the fast half.
        "memory": sum(max(r[2]) <= max(r[2][:2]) for r in rows) * 2 >= len(rows),
    }


def predict(build, chip, device, lines):
    found = subprocess.run([f"{build}/tests/landscape", "predict", chip] + device, check=True,
                           input="\n".join(lines) + "\n", capture_output=True, text=True).stdout
    rows = []
    for line in found.splitlines():
        cells = line.split("\t")
        rows.append((float(cells[0]), float(cells[1]), [float(c) for c in cells[4:-1]], cells[-1],
                     float(cells[2]) <= float(cells[0]) <= float(cells[3])))
    return rows


def chip_of(gpu):
    return next((c for c in ("h200", "h100", "a100") if c in gpu.lower()), "sm_90")


def main(arguments):
    build, device, missed = arguments[0], [], []
    arguments = arguments[1:]
    if arguments[:1] == ["--device"]:
        device, arguments = [arguments[1]], arguments[2:]
    print(f"{'landscape':24s} {'n':>5s} {'slow':>6s} {'rank':>6s} {'first %':>8s} {'of 20 %':>8s} {'error %':>8s} {'within %':>8s}")
    for path in arguments:
        lines = lines_of(path)
        head = json.loads(lines[0])
        gpu = head.get("gpu", os.path.basename(os.path.dirname(path)))
        rows = predict(build, chip_of(gpu), device, lines[1:] if "gpu" in head else lines)
        name = os.path.basename(path).split(".")[0]
        if len(rows) < 20:
            print(f"{name:24s} {len(rows):5d}   too few")
            continue
        j = judge(rows)
        print(f"{name:24s} {j['n']:5d} {j['slow']:6.2f} {j['rank']:6.2f} {100 * j['first']:8.1f} "
              f"{100 * j['of20']:8.1f} {100 * j['error']:8.1f} {100 * j['within']:8.0f}")
        bars = [("rank", -j["rank"], -0.8 if j["slow"] >= 1.3 else -0.6), ("first", j["first"], 0.10),
                ("best of 20", j["of20"], 0.02), ("error", j["error"], 0.08 if j["memory"] else 0.15)]
        missed += [f"{name}: {bar} {abs(value):.3f}, the bar is {abs(most):.2f}"
                   for bar, value, most in bars if value > most]
    print("\n".join(["", "missed:"] + missed) if missed else "\nno bar is missed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
