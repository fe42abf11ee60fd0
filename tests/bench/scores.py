"""Scores a strategy on several recorded spaces, to judge a change of the strategy.

Usage: scores.py AUTOTUNE STRATEGY SEEDS FIRST_SEED FILE...

Prints the scores of `autotune replay` by evaluations and by time for each file, and their means. Between sets of
seeds the mean of 18 files over 20 seeds varies by about 0.01: compare with the same seeds.
"""

import json
import os
import subprocess
import sys


def main():
    autotune, strategy, seeds, first = sys.argv[1:5]
    sums = [0.0, 0.0]
    for path in sys.argv[5:]:
        command = [autotune, "replay", path, "--strategy", strategy, "--repeat", seeds, "--seed",
                   first, "--json"]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        scores = result["score"], result["score_in_time"]
        sums = [a + b for a, b in zip(sums, scores)]
        print("%-32s %6d configurations, %5d evaluations  %7.3f %7.3f" % (
            os.path.basename(path), result["configurations"], result["budget_evaluations"],
            *scores), flush=True)
    count = len(sys.argv) - 5
    print("%-62s %7.3f %7.3f" % ("mean of %d" % count, sums[0] / count, sums[1] / count))


main()
