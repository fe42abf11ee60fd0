"""Enumerates the spaces of spaces/*.lua with autotune, Kernel Tuner and pyATF, and compares.

Usage: enumeration.py AUTOTUNE [SPACE...]        (called by enumeration.sh, which installs the two)

Parameters and constraints come from `autotune space --json`, so that all three enumerate the same space. The times
are for building the space only, once in a process that has loaded everything; the best of a few processes counts.
"command" is the whole time of `autotune space`. Prints a table. Exit code 1 if the sets differ or autotune is not 20
times as fast as the faster of the other two.
"""

import io
import contextlib
import importlib.util
import json
import multiprocessing
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 10  # largest number of processes; the best time counts
LONG_S = 2  # after a best time above this, no more processes run
TIME_LIMIT_S = 600
WANTED_RATIO = 20


def in_python(text):
    """Translates a constraint from Lua to Python; both share and, or, not, //, % and the comparisons."""
    return re.sub("~=", "!=", text)


def names_in(text, parameters):
    return [p["name"] for p in parameters if re.search(r"\b%s\b" % re.escape(p["name"]), text)]


def timed(build):
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        built = build()
    return time.perf_counter() - start, built


def by_autotune(autotune, script):
    built = command = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        printed = subprocess.run([autotune, "space", script, "--arch", "sm_80", "--json"],
                                 check=True, stdout=subprocess.PIPE).stdout
        command = min(command, time.perf_counter() - start)
        built = min(built, json.loads(printed)["enumerate_s"])
    listed = subprocess.run([autotune, "space", script, "--arch", "sm_80", "--list"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    return built, command, listed.split()


def by_kernel_tuner(space):
    from kernel_tuner.searchspace import Searchspace
    values = {p["name"]: p["values"] for p in space["parameters"]}
    constraints = [in_python(c["text"]) for c in space["constraints"]]
    elapsed, built = timed(lambda: Searchspace(dict(values), list(constraints), 10 ** 9))
    return elapsed, [",".join("%s=%s" % pair for pair in zip(values, c)) for c in built.list]


def by_pyatf(space):
    from pyatf import TP, Set
    from pyatf.search_space import SearchSpace
    parameters = space["parameters"]
    place = {p["name"]: i for i, p in enumerate(parameters)}
    conditions = {p["name"]: [] for p in parameters}
    for c in space["constraints"]:
        reads = names_in(c["text"], parameters)
        conditions[max(reads, key=place.get)].append(in_python(c["text"]))
    tps = []
    for p in parameters:
        constraint = None
        if conditions[p["name"]]:
            text = " and ".join("(%s)" % c for c in conditions[p["name"]])
            reads = set(names_in(text, parameters)) | {p["name"]}
            constraint = eval("lambda %s: %s" % (", ".join(sorted(reads)), text))
        tps.append(TP(p["name"], Set(*p["values"]), constraint))
    elapsed, built = timed(lambda: SearchSpace(*tps, enable_1d_access=True, verbosity=0))
    configurations = []
    for i in range(built.constrained_size):
        c = built.get_configuration(i)
        configurations.append(",".join("%s=%s" % (p["name"], c[p["name"]]) for p in parameters))
    return elapsed, configurations


def in_process(function, space, queue):
    queue.put(function(space))


def limited(function, space):
    """Returns the best time of a few runs in processes of their own, or (inf, None) on a timeout."""
    best = once(function, space)
    for _ in range(RUNS - 1):
        if best[0] > LONG_S:
            break
        best = min(best, once(function, space), key=lambda result: result[0])
    return best


def once(function, space):
    queue = multiprocessing.Queue()
    process = multiprocessing.Process(target=in_process, args=(function, space, queue))
    process.start()
    try:
        result = queue.get(timeout=TIME_LIMIT_S)
    except Exception:
        result = (float("inf"), None)
    process.terminate()
    process.join()
    return result


def main():
    autotune = sys.argv[1]
    names = sys.argv[2:] or ["convolution", "dedispersion", "gemm", "hotspot", "billion"]
    good = True
    print("%-14s %12s %10s %12s %12s %12s %12s %8s" % (
        "space", "product", "valid", "autotune", "command", "Kernel Tuner", "pyATF", "ratio"))
    for name in names:
        script = os.path.join(HERE, "spaces", name + ".lua")
        space = json.loads(subprocess.run([autotune, "space", script, "--arch", "sm_80", "--json"],
                                          check=True, stdout=subprocess.PIPE).stdout)
        ours, command, configurations = by_autotune(autotune, script)
        others = [limited(function, space) if importlib.util.find_spec(module) else (float("inf"), None)
                  for function, module in ((by_kernel_tuner, "kernel_tuner"), (by_pyatf, "pyatf"))]
        same = all(c is None or set(c) == set(configurations) and len(c) == len(configurations)
                   for _, c in others)
        ratio = min(elapsed for elapsed, _ in others) / ours
        good = good and same and ratio >= WANTED_RATIO
        print("%-14s %12d %10d %9.3f ms %9.2f ms %9.2f ms %9.2f ms %8.1f%s" % (
            name, space["cartesian"], space["valid"], 1e3 * ours, 1e3 * command,
            1e3 * others[0][0], 1e3 * others[1][0], ratio,
            "" if same else "  THE SETS DIFFER"), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
