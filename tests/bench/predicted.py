#!/usr/bin/env python3
"""Judges how well predicted times order measured ones: predicted.py BUILD [--device DEVICE.json] [--before OUTPUT]
LANDSCAPE...

A LANDSCAPE is a file FOLDER/PATTERN.jsonl(.gz) with features (tests/bench/landscape.c); the first line names the GPU
on which it was measured. No GPU is needed. For each landscape it prints the number of variants and the start of the
slowest tenth relative to the best; Spearman's rank correlation of predicted with measured time; by how much the
first predicted variant, and the best of the first 20, are slower than the best measured; the mean error of time; the
share of measured times that are in the interval of their prediction, and in an interval that contains nine of ten
errors of the other patterns with the same longest term. With --before OUTPUT (an output of this script), the old
rank, first and error are printed in brackets. Last, it prints the targets that are missed, and the interval's
factors from all landscapes together."""
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
        # Patterns bound by memory: DRAM or latency is the longest term of most of the fast half.
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


def factor(row):
    """Returns the factor by which the prediction is off, in either direction."""
    return max(row[0] / row[1], row[1] / row[0])


def limit(row):
    return max(range(len(row[2])), key=lambda t: row[2][t])


def nine_of_ten(rows):
    """Returns {longest term: the factor within which nine of ten predictions are}."""
    found = {}
    for row in rows:
        found.setdefault(limit(row), []).append(factor(row))
    return {t: sorted(f)[min(len(f) * 9 // 10, len(f) - 1)] for t, f in found.items()}


def held_out(name, rows_of):
    """Returns the share of a landscape's rows within the factors of all other patterns."""
    pattern = name.split()[0]
    others = [r for other, rows in rows_of.items() if other.split()[0] != pattern for r in rows]
    if not others:
        return None
    factors, all_terms = nine_of_ten(others), sorted(factor(r) for r in others)[len(others) * 9 // 10]
    rows = rows_of[name]
    return sum(factor(r) <= factors.get(limit(r), all_terms) for r in rows) / len(rows)


def read_before(path):
    """Returns {"pattern chip": (rank, first, error)} from an output of this script."""
    found = {}
    with open(path) as f:
        for line in f:
            cells = line.split("|")
            if len(cells) == 10 and cells[0].split()[1:]:
                found[" ".join(cells[0].split())] = [cells[i].split()[0] for i in (3, 4, 6)]
    return found


def chip_of(gpu):
    return next((c for c in ("h200", "h100", "a100") if c in gpu.lower()), "sm_90")


TERMS = "DRAM latency blocks issue L1 shared constant L2 atomics last turns".split()


def main(arguments):
    build, device, before, missed, rows_of = arguments[0], [], {}, [], {}
    arguments = arguments[1:]
    while arguments[:1] in (["--device"], ["--before"]):
        if arguments[0] == "--device":
            device = [arguments[1]]
        else:
            before = read_before(arguments[1])
        arguments = arguments[2:]
    for path in arguments:
        lines = lines_of(path)
        head = json.loads(lines[0])
        gpu = head.get("gpu", os.path.basename(os.path.dirname(path)))
        name = f"{os.path.basename(path).split('.')[0]} {chip_of(gpu)}"
        rows_of[name] = predict(build, chip_of(gpu), device, lines[1:] if "gpu" in head else lines)
    print(f"{'landscape':24s} |   n | slow  | rank        | first %       | of 20 % | error %     | within % | held out % |")
    for name, rows in rows_of.items():
        if len(rows) < 20:
            print(f"{name:24s} | {len(rows):3d} | too few")
            continue
        j = judge(rows)
        was = [f"({w})" for w in before.get(name, [])] or [""] * 3
        out = held_out(name, rows_of)
        print(f"{name:24s} | {j['n']:3d} | {j['slow']:5.2f} | {j['rank']:4.2f} {was[0]:6s} | {100 * j['first']:5.1f} {was[1]:7s} | "
              f"{100 * j['of20']:7.1f} | {100 * j['error']:4.1f} {was[2]:6s} | {100 * j['within']:8.0f} | "
              + (f"{100 * out:10.0f} |" if out is not None else f"{'':10s} |"))
        bars = [("rank", -j["rank"], -0.8 if j["slow"] >= 1.3 else -0.6), ("first", j["first"], 0.10),
                ("best of 20", j["of20"], 0.02), ("error", j["error"], 0.08 if j["memory"] else 0.15)]
        missed += [f"{name}: {bar} {abs(value):.3f}, the bar is {abs(most):.2f}"
                   for bar, value, most in bars if value > most]
    print("\n".join(["", "missed:"] + missed) if missed else "\nno bar is missed")
    everything = [r for rows in rows_of.values() for r in rows]
    print("\nnine of ten are within: " + ", ".join(
        f"{TERMS[t]} {f:.2f}" for t, f in sorted(nine_of_ten(everything).items())) if everything else "")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
