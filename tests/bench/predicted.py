#!/usr/bin/env python3
"""Judges predicted times against measured times: predicted.py BUILD [--device DEVICE.json] [--before OUTPUT]
LANDSCAPE...

A LANDSCAPE is a file FOLDER/PATTERN.jsonl(.gz) with features (tests/bench/landscape.c). Its first line names the GPU
on which it was measured. No GPU is needed. For each landscape the script prints:
  - the number of variants, and the start of the slowest tenth relative to the best;
  - Spearman's rank correlation of predicted with measured times;
  - how much slower than the best measured variant the first predicted one is, and the best of the first 20;
  - the mean error of the times;
  - the share of measured times inside the interval of their prediction, and inside an interval from other patterns.
With --before OUTPUT (an output of this script), the old rank, first and error are printed in brackets. At the end the
script prints missed targets, and the interval's factors from all landscapes (print_intervals())."""
import gzip
import json
import math
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
    """A row is (measured, predicted, terms, configuration, whether measured is in the interval, mechanism, factor)."""
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
        # A pattern is bound by memory if DRAM or latency is the longest term of most of its fast half.
        "memory": sum(max(r[2]) <= max(r[2][:2]) for r in rows) * 2 >= len(rows),
    }


def predict(build, chip, device, lines):
    found = subprocess.run([f"{build}/tests/landscape", "predict", chip] + device, check=True,
                           input="\n".join(lines) + "\n", capture_output=True, text=True).stdout
    rows = []
    for line in found.splitlines():
        cells = line.split("\t")
        rows.append((float(cells[0]), float(cells[1]), [float(c) for c in cells[4:-2]], cells[-1],
                     float(cells[2]) <= float(cells[0]) <= float(cells[3]), cells[-2], float(cells[3]) / float(cells[1])))
    return rows


def error(row):
    """Returns the logarithm of the factor by which the prediction is off, in either direction."""
    return abs(math.log(row[1] / row[0]))


def nine_of_ten(values):
    values = sorted(values)
    return values[math.ceil(len(values) * 9 / 10) - 1]


def of_mechanism(rows_of, mechanism):
    """Returns {pattern: errors of its predictions by the mechanism}. None stands for all mechanisms."""
    found = {}
    for name, rows in rows_of.items():
        for row in rows:
            if mechanism in (None, row[5]):
                found.setdefault(name.split()[0], []).append(error(row))
    return found


def without(errors, pattern):
    return {p: e for p, e in errors.items() if p != pattern}


def pooled(errors):
    return nine_of_ten([e for own in errors.values() for e in own])


def in_others(errors):
    """Returns the errors of each pattern, divided by the 90th percentile of the other patterns' errors."""
    return {p: [e / pooled(without(errors, p)) for e in own] for p, own in errors.items()}


def bound(errors):
    """Returns the error within which nine of ten predictions for a new pattern are: that of the known patterns, times
    the factor that makes the other patterns hold nine in ten of each pattern. None if there is only one pattern."""
    return pooled(errors) * pooled(in_others(errors)) if len(errors) > 1 else None


def share(values, most):
    return sum(v <= most + 1e-9 for v in values) / len(values)


def mean_share(errors, most_of):
    """Returns the share of all errors that are at most most_of(pattern), or None."""
    most = {p: most_of(p) for p in errors}
    if not errors or None in most.values():
        return None
    return sum(share(e, most[p]) * len(e) for p, e in errors.items()) / sum(map(len, errors.values()))


def held_out(name, rows_of):
    """Returns the share of a landscape's rows within the bounds that all other patterns give."""
    pattern, found = name.split()[0], {}
    for row in rows_of[name]:
        found.setdefault(row[5], []).append(error(row))
    everything = bound(without(of_mechanism(rows_of, None), pattern))
    if everything is None:
        return None
    held = 0
    for mechanism, own in found.items():
        most = bound(without(of_mechanism(rows_of, mechanism), pattern))
        held += len(own) * share(own, everything if most is None else most)
    return held / len(rows_of[name])


def percent(value):
    return "not tested" if value is None else f"{100 * value:.0f}"


def print_intervals(rows_of):
    """Prints the factor of each mechanism. "held out": the share of the variants within the error that nine in ten of the
    other patterns have, times the factor from all patterns. "nested": the same, with both from the other patterns."""
    model, patterns = {}, {name.split()[0] for name in rows_of}
    for rows in rows_of.values():
        for row in rows:
            model.setdefault(row[5], row[6])
    if len(patterns) < 2:
        return
    print("\nmechanism    |    n | patterns | factor | in the model | held out % | nested %   | patterns equal %")
    for mechanism in sorted(model) + [None]:
        errors = of_mechanism(rows_of, mechanism)
        tested = len(errors) > 1
        most = bound(errors if tested else of_mechanism(rows_of, None))
        spread = pooled(in_others(errors)) if tested else None
        out = mean_share(errors, lambda p: spread * pooled(without(errors, p))) if tested else None
        nested = {p: bound(without(errors, p)) for p in errors}
        equal = sum(share(e, nested[p]) for p, e in errors.items()) / len(errors) if None not in nested.values() else None
        print(f"{mechanism or 'all':12s} | {sum(map(len, errors.values())):4d} | {len(errors):8d} | {math.exp(most):6.2f} | "
              f"{f'{model[mechanism]:.2f}' if mechanism in model else '':>12s} | {percent(out):10s} | {percent(mean_share(errors, nested.get)):10s} | "
              f"{percent(equal)}")


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
    print_intervals(rows_of)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
