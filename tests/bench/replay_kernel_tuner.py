"""Runs one strategy of Kernel Tuner 1.4 against recorded measurements, in its simulation mode.
See replay.sh.

Usage: replay_kernel_tuner.py RECORDED SPACE STRATEGY SEEDS EVALUATIONS

RECORDED is a file of results (T4 or Kernel Tuner's own cache, gzip or not), SPACE its search space
(T1). Prints one JSON object: for each seed 1..SEEDS the unique evaluations in the order in which the
strategy made them, as [recorded seconds, cost or null] pairs.
"""

import contextlib
import gzip
import io
import json
import os
import random
import sys
import tempfile
import warnings

import numpy


def read_json(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        return json.load(file)


def records_of(document):
    """(configuration, cost or None, compile ms, verify ms, run ms) of every result of a file."""
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
    """T1 gives lists, or Python expressions of lists."""
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


def main():
    recorded, space, strategy, seeds, evaluations = sys.argv[1:6]
    records = list(records_of(read_json(recorded)))
    t1 = read_json(space)["ConfigurationSpace"]
    names = [p["Name"] for p in t1["TuningParameters"]]
    values = {p["Name"]: values_of(p["Values"]) for p in t1["TuningParameters"]}
    restrictions = [c["Expression"] for c in t1["Conditions"]]
    outcome = {",".join(str(c[n]) for n in names): ((a + b + r) / 1000, cost)
               for c, cost, a, b, r in records}

    import kernel_tuner
    from kernel_tuner.runners import simulation

    order = []
    original = simulation.SimulationRunner.run

    def run(self, parameter_space, tuning_options):
        results = []
        for element in parameter_space:
            key = ",".join(str(i) for i in element)
            before = len(self.visited_results)
            results += original(self, [element], tuning_options)
            if len(self.visited_results) > before:
                order.append(outcome[key])
        return results

    simulation.SimulationRunner.run = run
    warnings.filterwarnings("ignore")
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache.json")
        write_cache(cache, records, names, values)
        for seed in range(1, int(seeds) + 1):
            random.seed(seed)
            numpy.random.seed(seed)
            order.clear()
            note = None
            with contextlib.redirect_stdout(io.StringIO()):
                try:
                    kernel_tuner.tune_kernel(
                        "recorded", "", 1, [], dict(values), restrictions=list(restrictions),
                        strategy=strategy, cache=cache, simulation_mode=True, verbose=False,
                        strategy_options={"max_fevals": int(evaluations)}, quiet=True)
                except Exception as exception:  # a strategy that breaks has what it found until then
                    note = repr(exception)
            runs.append({"evaluations": list(order), "error": note})
    print(json.dumps({"strategy": strategy, "runs": runs}))


if __name__ == "__main__":
    main()
