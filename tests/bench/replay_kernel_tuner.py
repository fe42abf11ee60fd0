"""Runs one strategy of Kernel Tuner 1.4 against recorded measurements, in its simulation mode. See replay.sh.

Usage: replay_kernel_tuner.py RECORDED SPACE STRATEGY FIRST LAST EVALUATIONS MOST SECONDS

RECORDED is a file of results (T4 or Kernel Tuner's own cache, gzip or not), SPACE its search space (T1). Prints a
JSON object on each line for each seed FIRST..LAST: "evaluations", the configurations in the order in which the
strategy first tried them, as [recorded seconds, cost or null] pairs, and "error", if it failed. The strategy's own
limit is MOST evaluations. It is stopped once its score is decided: after EVALUATIONS and SECONDS, or when it has
found the optimum. It is also stopped when it only repeats itself, which some strategies do endlessly.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import warnings


from slices import read as read_json


def records_of(document):
    """Returns (configuration, cost or None, compile ms, verify ms, run ms) of every result of a file."""
    if "results" in document:
        for r in document["results"]:
            times = r["times"]
            ok = r["invalidity"] == "correct"
            cost = next((m["value"] for m in r["measurements"] if m["name"] in r["objectives"]), None)
            yield (r["configuration"], cost if ok else None, times.get("compilation", 0) or 0,
                   times.get("validation", 0) or 0, sum(times.get("runtimes") or []))
    else:
        names = document["tune_params_keys"]
        for r in document["cache"].values():
            cost = r.get(document.get("objective", "time"))
            yield ({n: r[n] for n in names}, cost if isinstance(cost, (int, float)) else None,
                   r.get("compile_time", 0) or 0, r.get("verification_time", 0) or 0,
                   r.get("benchmark_time", 0) or 0)


def values_of(given):
    """Reads values of T1: lists, or Python expressions of lists."""
    if not isinstance(given, str):
        return given
    return list(eval(given, {"__builtins__": {}, "range": range, "list": list}))


def write_cache(path, records, names, values):
    cache = {}
    for configuration, cost, compile_ms, verify_ms, run_ms in records:
        key = ",".join(str(configuration[n]) for n in names)
        cache[key] = dict(configuration, time=cost if cost is not None else "RuntimeFailedConfig",
                          compile_time=compile_ms, verification_time=verify_ms,
                          benchmark_time=run_ms)
        if cost is None:
            cache[key]["__error__"] = "RuntimeFailedConfig"
    with open(path, "w") as file:
        json.dump({"device_name": "recorded", "kernel_name": "recorded", "problem_size": [1],
                   "tune_params_keys": names, "tune_params": values, "objective": "time",
                   "cache": cache}, file)


def accept_constraint_source():
    """Removes the fourth argument that Kernel Tuner 1.4 gives pyATF's parameters; no released pyATF accepts it."""
    try:
        import pyatf
    except ImportError:
        return
    original = pyatf.TP.__init__

    def init(self, name, values, constraint=None, constraint_source=None):
        original(self, name, values, constraint)
        if constraint_source is not None:
            self.constraint_source = constraint_source

    pyatf.TP.__init__ = init


class Watch:
    """Records one run through the calls of Kernel Tuner's simulation runner."""

    REPEATS = 20000

    def __init__(self, outcome, evaluations, seconds):
        self.outcome, self.evaluations, self.seconds = outcome, evaluations, seconds
        self.optimum = min(cost for _, cost in outcome.values() if cost is not None)
        self.restart()

    def restart(self):
        self.order, self.elapsed, self.repeats, self.found = [], 0.0, 0, False

    def saw(self, key, is_new):
        self.repeats = 0 if is_new else self.repeats + 1
        if is_new:
            seconds, cost = self.outcome[key]
            self.order.append((seconds, cost))
            self.elapsed += seconds
            self.found = self.found or cost == self.optimum

    def is_over(self):
        decided = len(self.order) >= self.evaluations and self.elapsed >= self.seconds
        return decided or self.found or self.repeats >= self.REPEATS


def main():
    recorded, space, strategy = sys.argv[1:4]
    first, last, evaluations, most = (int(text) for text in sys.argv[4:8])
    seconds = float(sys.argv[8])
    records = list(records_of(read_json(recorded)))
    t1 = read_json(space)["ConfigurationSpace"]
    names = [p["Name"] for p in t1["TuningParameters"]]
    values = {p["Name"]: values_of(p["Values"]) for p in t1["TuningParameters"]}
    restrictions = [c["Expression"] for c in t1["Conditions"]]
    watch = Watch({",".join(str(c[n]) for n in names): ((a + b + r) / 1000, cost)
                   for c, cost, a, b, r in records}, evaluations, seconds)

    import kernel_tuner
    from kernel_tuner.runners import simulation
    from kernel_tuner.util import StopCriterionReached

    accept_constraint_source()
    original = simulation.SimulationRunner.run

    def run(self, parameter_space, tuning_options):
        results = []
        for element in parameter_space:
            if watch.is_over():
                raise StopCriterionReached("decided")
            before = len(self.visited_results)
            results += original(self, [element], tuning_options)
            watch.saw(",".join(str(i) for i in element), len(self.visited_results) > before)
        if not results:
            watch.repeats += 1
        if watch.is_over():
            raise StopCriterionReached("decided")
        return results

    simulation.SimulationRunner.run = run
    warnings.filterwarnings("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        cache = os.path.join(folder, "cache.json")
        write_cache(cache, records, names, values)
        for seed in range(first, last + 1):
            random.seed(seed)
            import numpy
            numpy.random.seed(seed)
            watch.restart()
            note = None
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    kernel_tuner.tune_kernel(
                        "recorded", "", 1, [], dict(values), restrictions=list(restrictions),
                        strategy=strategy, cache=cache, simulation_mode=True, verbose=False,
                        strategy_options={"max_fevals": most}, quiet=True)
                except Exception as exception:  # a strategy that fails keeps its results so far
                    if not watch.is_over():
                        note = repr(exception)
            print(json.dumps({"seed": seed, "evaluations": watch.order, "error": note}), flush=True)


if __name__ == "__main__":
    main()
