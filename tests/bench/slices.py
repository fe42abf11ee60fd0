"""Makes small recorded spaces out of large ones: slices on which random search ends soon.

Usage: slices.py [--skip N] FOLDER FILE...

Each FILE holds T4 results, gzip or not, of a completely measured space. A slice is the part of it in which one or
two parameters have a fixed value. Up to five slices of a file are written to FOLDER. They are drawn at random (the
same ones each time) from the slices of at least 100 configurations on which random search has gone 95 % of the way
from the median to the optimum after 10 to 50 evaluations. --skip leaves out the first N of these, for slices that
were not used to choose constants. Score them with scores.py.
"""

import argparse
import collections
import gzip
import itertools
import json
import os
import random

SLICES = 5
LEAST_CONFIGURATIONS = 100
LEAST_WORKING = 60
MOST_SHARE = 0.6  # largest share of the whole space; a larger slice is hardly a different space
LEAST_SPREAD = 1.02  # least ratio of median to optimum; below this a search can gain nothing
BUDGETS = range(10, 51)


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return json.load(file)


def time_of(result):
    runtimes = result["times"].get("runtimes")
    if not runtimes:
        runtimes = [m["value"] for m in result["measurements"] if m["name"] == "time"]
    return sorted(runtimes)[len(runtimes) // 2]


def random_cost(times, count, draws):
    """Returns the expected lowest of `draws` without replacement among `count`, of which len(times) work
    (ascending)."""
    probability, left, total = draws / count, 1.0, 0.0
    for rank, time in enumerate(times):
        total += probability * time
        left -= probability
        others = count - 1 - rank
        probability *= max(0, others - draws + 1) / others if others > 0 else 0
    return total + max(left, 0) * times[-1]


def budget_of(times, count):
    median = times[len(times) // 2]
    target = median - 0.95 * (median - times[0])
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        if random_cost(times, count, middle) <= target:
            high = middle
        else:
            low = middle + 1
    return low


def is_wanted(results, whole):
    if not LEAST_CONFIGURATIONS <= len(results) <= MOST_SHARE * whole:
        return False
    times = sorted(time_of(r) for r in results if r["invalidity"] == "correct")
    if len(times) < LEAST_WORKING or times[len(times) // 2] <= LEAST_SPREAD * times[0]:
        return False
    return budget_of(times, len(results)) in BUDGETS


def choices(results):
    """Yields every way to fix one or two parameters, in random order."""
    names = list(results[0]["configuration"])
    values = {n: list(collections.Counter(str(r["configuration"][n]) for r in results)) for n in names}
    varied = [n for n in names if len(values[n]) > 1]
    found = [((n, v),) for n in varied for v in values[n]]
    for a, b in itertools.combinations(varied, 2):
        found += [((a, v), (b, w)) for v in values[a] for w in values[b]]
    random.Random(5).shuffle(found)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("folder")
    parser.add_argument("file", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    for path in options.file:
        data = read(path)
        stem = os.path.basename(path).split(".")[0]
        found = 0
        for fixed in choices(data["results"]):
            results = [r for r in data["results"]
                       if all(str(r["configuration"][n]) == v for n, v in fixed)]
            if not is_wanted(results, len(data["results"])):
                continue
            found += 1
            if found <= options.skip:
                continue
            name = "_".join([stem] + ["%s-%s" % pair for pair in fixed])
            with open(os.path.join(options.folder, name + ".json"), "w") as file:
                json.dump(dict(data, results=results), file)
            if found == options.skip + SLICES:
                break


if __name__ == "__main__":
    main()
