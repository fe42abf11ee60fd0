"""Scores strategies on recorded measurements; see replay.sh.

Usage: replay.py AUTOTUNE RECORDED SPACE_T1 [SEEDS [STRATEGY...]]

The score is that of `autotune replay` (lua/commands/replay.lua), computed here from each run's evaluations: the mean over
50 equidistant points of (S - F) / (S - optimum), up to the budget at which random search is expected to have gone 95
% of the way from the median to the optimum. S is the exact expectation of random search without replacement, and F
is the mean best cost over seeds. After the end of a strategy its best cost stays. Random search by Kernel Tuner is
in the table as a check: its scores should be near 0.

Kernel Tuner's runs are kept in the folder AUTOTUNE_BENCH_RUNS (default: beside the environment) and not repeated. A
strategy gets AUTOTUNE_BENCH_LIMIT_S seconds. A strategy that models the space needs minutes for a run, so fewer of
its seeds are scored: the table has the number.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from replay_kernel_tuner import read_json, records_of

POINTS = 50
SHARES = (50, 100, 200)
STRATEGIES = [
    "random_sample", "minimize", "basinhopping", "diff_evo", "genetic_algorithm", "greedy_mls",
    "ordered_greedy_mls", "greedy_ils", "dual_annealing", "mls", "pso", "simulated_annealing",
    "firefly_algorithm", "pyatf_strategies", "hybrid_vndx", "adaptive_tabu_greywolf", "nsga2",
    "nsga3", "skopt", "bayes_opt"]
# strategies that plan for a given number of evaluations
SCHEDULED = ("simulated_annealing",)
TIME_LIMIT_S = float(os.environ.get("AUTOTUNE_BENCH_LIMIT_S", "3600"))
RUNS = os.environ.get("AUTOTUNE_BENCH_RUNS", os.path.join(sys.prefix, "runs"))
LINE = "%-24s %5s %14s %9s   %s"


def random_cost(costs, count, m):
    """Returns the expected lowest of m costs drawn without replacement; failures count as the worst."""
    m = min(m, count)
    probability, total, left = m / count, 0.0, 1.0
    for i, cost in enumerate(costs):
        total += probability * cost
        left -= probability
        others = count - 1 - i
        probability *= (others - m + 1) / others if others else 0
        if probability <= 0:
            break
    return total + max(0.0, left) * costs[-1]


class Space:
    def __init__(self, records):
        self.costs = sorted(cost for _, cost in records if cost is not None)
        self.count = len(records)
        self.mean_s = sum(s for s, _ in records) / self.count
        n = len(self.costs)
        median = (self.costs[(n - 1) // 2] + self.costs[n // 2]) / 2
        target = median - 0.95 * (median - self.costs[0])
        low, high = 1, self.count
        while low < high:
            middle = (low + high) // 2
            if random_cost(self.costs, self.count, middle) <= target:
                high = middle
            else:
                low = middle + 1
        self.budget = low
        self.by_count = [math.ceil((i + 1) / POINTS * low) for i in range(POINTS)]
        self.by_time = [(i + 1) / POINTS * low * self.mean_s for i in range(POINTS)]

    def score(self, runs):
        """Returns (by evaluations, by time, shares of the optimum) of runs of [seconds, cost] pairs."""
        found = {"count": [0.0] * POINTS, "time": [0.0] * POINTS}
        shares = {m: 0.0 for m in SHARES}
        for run in runs:
            best, elapsed, curve = math.inf, 0.0, []
            for seconds, cost in run:
                elapsed += seconds
                best = min(best, cost if cost is not None else math.inf)
                curve.append((elapsed, best))
            for i in range(POINTS):
                done = min(self.by_count[i], len(curve))
                found["count"][i] += self.charged(curve, done)
                done = sum(1 for t, _ in curve if t <= self.by_time[i])
                found["time"][i] += self.charged(curve, done)
            for m in SHARES:
                done = min(m, len(curve))
                shares[m] += self.costs[0] / curve[done - 1][1] if done else 0
        n = len(runs)
        by_count = self.mean_score(found["count"], n, self.by_count)
        by_time = self.mean_score(
            found["time"], n,
            [max(1, int(t / self.mean_s * (1 + 1e-12))) for t in self.by_time])
        return by_count, by_time, [shares[m] / n for m in SHARES]

    def charged(self, curve, done):
        """Returns the best cost after `done` evaluations; before the first, that of an untested configuration."""
        if not done:
            return random_cost(self.costs, self.count, 1)
        return curve[done - 1][1] if math.isfinite(curve[done - 1][1]) else self.costs[-1]

    def mean_score(self, sums, runs, evaluations):
        optimum, total = self.costs[0], 0.0
        for s, m in zip(sums, evaluations):
            baseline = random_cost(self.costs, self.count, m)
            total += (baseline - s / runs) / (baseline - optimum)
        return total / len(sums)


def kept_runs(path):
    """Reads the runs in a file; a truncated last line is skipped."""
    runs = []
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    runs.append(json.loads(line))
                except json.JSONDecodeError:
                    break
    return runs


def runs_of(strategy, recorded, t1, seeds, space, most):
    """Returns runs for seeds 1, 2, ...: the kept ones, and as many new ones as the time allows."""
    with open(recorded, "rb") as file, open(t1, "rb") as t1_file:
        digest = hashlib.sha256(file.read() + t1_file.read()).hexdigest()[:16]
    os.makedirs(RUNS, exist_ok=True)
    path = os.path.join(RUNS, "%s-%s-%d.jsonl" % (digest, strategy, most))
    runs = kept_runs(path)
    if len(runs) < seeds:
        with open(path, "w") as file:
            file.writelines(json.dumps(r) + "\n" for r in runs)
        command = [sys.executable, os.path.join(HERE, "replay_kernel_tuner.py"),
                   os.path.abspath(recorded), os.path.abspath(t1), strategy, str(len(runs) + 1),
                   str(seeds), str(space.budget), str(most), str(space.by_time[-1])]
        with open(path, "a") as file:
            try:
                subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=False,
                               timeout=TIME_LIMIT_S)
            except subprocess.TimeoutExpired:
                pass
    return kept_runs(path)[:seeds]


def score_kernel_tuner(strategy, recorded, t1, seeds, space):
    """Returns (row of the table, by evaluations, by time), or (row, None, None) if nothing ran."""
    # In the same time, a strategy with short evaluations makes more evaluations than the budget.
    runs = runs_of(strategy, recorded, t1, seeds, space, 2 * space.budget)
    if not runs:
        return LINE % (strategy, 0, "-", "-", "no run ended"), None, None
    by_count, by_time, shares = space.score([r["evaluations"] for r in runs])
    if strategy in SCHEDULED:
        told = runs_of(strategy, recorded, t1, seeds, space, space.budget)
        by_count, _, shares = space.score([r["evaluations"] for r in told])
    broke = [r["error"] for r in runs if r["error"]]
    note = "  %d broke: %s" % (len(broke), broke[0][:60]) if broke else ""
    row = LINE % (strategy, len(runs), "%.3f" % by_count, "%.3f" % by_time,
                  "  ".join("%11.4f" % s for s in shares)) + note
    return row, by_count, by_time


def main():
    autotune, recorded, t1 = sys.argv[1:4]
    seeds = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    strategies = sys.argv[5:] or STRATEGIES
    space = Space([((a + b + c) / 1000, cost)
                   for _, cost, a, b, c in records_of(read_json(recorded))])
    ours = json.loads(subprocess.run([autotune, "replay", recorded, "--repeat", str(seeds),
                                      "--json"], check=True, stdout=subprocess.PIPE).stdout)
    print("%s: %d configurations, scored up to %d evaluations" % (
        os.path.basename(recorded), space.count, space.budget))
    print(LINE % ("strategy", "seeds", "by evaluations", "by time",
                  "  ".join("share at %d" % m for m in SHARES)))
    print(LINE % ("autotune", seeds, "%.3f" % ours["score"], "%.3f" % ours["score_in_time"],
                  "  ".join("%11.4f" % ours["share_at"][str(m)] if str(m) in ours["share_at"]
                            else "%11s" % "-" for m in SHARES)), flush=True)
    better = []
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        scored = pool.map(lambda s: score_kernel_tuner(s, recorded, t1, seeds, space), strategies)
        for strategy, (row, by_count, by_time) in zip(strategies, scored):
            print(row, flush=True)
            if by_count is not None and (by_count >= ours["score"] or
                                         by_time >= ours["score_in_time"]):
                better.append(strategy)
    if better:
        print("not below autotune: " + " ".join(better))
    sys.exit(1 if better else 0)


main()
