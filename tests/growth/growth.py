#!/usr/bin/env python3
"""Checks that the time of each command grows almost linearly with its input. Each command runs on inputs of 1, 10 and
100 thousand entries, results, configurations or lines, and the CPU time of its processes is compared.

usage: growth.py AUTOTUNE FAKE_CUDA [COMMAND]

Ten times the input may take MOST_RATIO times as long: linear time is ten times, n log n twelve, n^2 a hundred. A
time below NOISE_S (between 1 and 10 thousand, a third of that) counts as NOISE_S. Commands that need a GPU have that
of the driver FAKE_CUDA. A message that refuses an input because it is too large is fine.
"""
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

MOST_RATIO, NOISE_S, LIMIT_S = 35, 0.15, 300
CHEAP_S = 0.3 # limit of the time for 10 thousand: a slower command is not run on 100 thousand
SIZES = 1000, 10000, 100000

SCRIPT = """local at = require "autotune"
return at.pattern {
  name = "grown", problem = { n = 4096 }, ragged = { n = 4093 },
  space = { a = at.range(1, %d), b = at.range(1, 50), block = { 32, 64 } },
  where = { "a %% 3 ~= 0 or b < 40" },
  baseline = { a = 1, b = 1, block = 32 },
  buffers = { src = at.input { dtype = "float", count = "n" }, dst = at.output { dtype = "float", count = "n" } },
  kernel = { template = "grown.cu.tmpl", entry = "copy", args = { "src", "dst", at.uint64 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" }, traffic = "8 * n",
  reference = at.reference { template = "grown_ref.cu.tmpl" },
}
"""
TEMPLATE = """extern "C" __global__ void copy(const float *src, float *dst, unsigned long long n)
{
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
%s    if (i < n)
        dst[i] = src[i];
}
"""
KERNEL_FILE = """/* autotune
problem = { n = 4096 }
space = { BLOCK = { 128, 256 } }
sizes = { x = "n" }
launch = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
*/
%s__global__ void grown(float *x, int n) { for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += n) x[i] = M%d; }
"""


def configuration(i):
    return {"a": 1 + i // 100, "b": 1 + i // 2 % 50, "block": 32 << i % 2}


def write_cache(path, count):
    """Returns results of a Kernel Tuner cache; the values of one parameter have a common prefix."""
    words = [("x" * 200) + str(i) for i in range(max(count // 4, 1))]
    cache = {}
    for i in range(count):
        word, n = words[i // 4], i % 4
        cache[f"{word},{n}"] = {"w": word, "n": n, "time": 1 + i * 7919 % 1000 / 1000, "times": [1.0], "compile_time": 1,
                                "verification_time": 0, "benchmark_time": 1, "strategy_time": 0, "framework_time": 0,
                                "timestamp": "2026-01-01T00:00:00"}
    json.dump({"device_name": "d", "kernel_name": "k", "problem_size": "", "tune_params_keys": ["w", "n"],
               "tune_params": {"w": words, "n": [0, 1, 2, 3]}, "objective": "time", "cache": cache}, open(path, "w"))


def write_record(folder, count):
    os.makedirs(folder + "/nvidia-h200")
    time = {"median_ns": 1995, "low_ns": 1985, "high_ns": 2005}
    entries = [{"problem": {"n": 1000 + i}, "configuration": configuration(i % 1000),
                "baseline": {"configuration": configuration(0), "time": time}, "time": time,
                "date": "2026-01-01T00:00:00Z", "tool": "0.1.0"} for i in range(count)]
    json.dump({"schema": "autotune-record", "version": 1, "pattern": "grown", "gpu": "NVIDIA H200",
               "compute_capability": "9.0", "entries": entries}, open(folder + "/nvidia-h200/grown.json", "w"))


def write_script(folder, count, lines):
    os.makedirs(folder)
    with open(folder + "/grown.lua", "w") as script:
        script.write("-- a line of a long script\n" * lines)
        script.write(SCRIPT % max(count // 100, 1))
    for name in "grown.cu.tmpl", "grown_ref.cu.tmpl":
        with open(f"{folder}/{name}", "w") as template:
            more = "    if (i > ${n}) i += 1; // ${a}\n" * lines if name == "grown.cu.tmpl" else ""
            template.write((TEMPLATE % more).replace("void copy", "void reference" if "ref" in name else "void copy"))


def write_kernel_file(path, count):
    """Returns macros that each name the previous one, five hundred in a row, and functions of the host."""
    lines = (f"#define M{i} {i % 1000 and f'M{i - 2}'}\n" if i % 2 == 0 else f"int h{i}() {{ return M{i - 1}; }}\n"
             for i in range(count))
    open(path, "w").write(KERNEL_FILE % ("".join(lines), count - 2))


# Commands by name. They run in a folder with cache.json, records/, script/grown.lua, long/grown.lua and kernel.cu,
# which all have the given size.
COMMANDS = {
    "replay": "replay cache.json --strategy random --repeat 2 --budget 20",
    "importance": "importance cache.json --json",
    "convert": "convert cache.json --format t4 -o converted.json",
    "compare": "compare cache.json cache.json --json",
    "results list": "results list --results records",
    "results list --json": "results list --results records --json",
    "results show": "results show grown --results records --json",
    "results validate": "results validate records",
    "results diff": "results diff records records",
    "results merge": "results merge records --results merged",
    "results prune": "results prune --older-than 2100-01-01 --results records --dry-run",
    "report": "report grown --results records -o page.html",
    "export": "export grown --results records -o grown.h",
    "export --format json": "export script/grown.lua --results records --format json -o grown.json",
    "export --format cuda": "export script/grown.lua --results few --format cuda -o grown.cu",
    "verify": "verify grown --results records --set n=1000 --device cuda:0",
    "check": "check script/grown.lua --device sim:sm_90 --budget 2",
    "inspect": "inspect script/grown.lua --arch sm_90 --over b=1,2,3 --only a=1",
    "sweep": "sweep script/grown.lua --over n=64,4096 --budget 2 --quiet --device cuda:0 --no-record",
    "portfolio": "portfolio script/grown.lua --over n=64..{size} --problems 2 --held-out 1 --budget 3 --quiet --device cuda:0 "
                 "--no-record",
    "pick": "pick script/grown.lua --results records --gpu nvidia-h200 --set n=7777",
    "space": "space script/grown.lua",
    "space --list": "space script/grown.lua --list",
    "lint": "lint script/grown.lua",
    "kernel file": "space kernel.cu --arch sm_90",
    "emit": "emit long/grown.lua -o emitted.cu",
    "tune": "script/grown.lua --arch sm_90 --budget 3 --quiet",
    "warm start": "script/grown.lua --arch sm_90 --budget 3 --quiet --warm-start records/nvidia-h200/grown.json",
}


if shutil.which("gnuplot"):
    COMMANDS["plot"] = "plot cache.json --kind rank -o picture.svg"


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(autotune, words, folder):
    """Returns CPU seconds of the command and of the processes that it waited for, or None if it refused with a
    reason."""
    before = processor_s()
    said = subprocess.run([autotune, *words.split()], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          errors="replace")
    spent_s = processor_s() - before
    if said.returncode in (2, 4) and re.search(r"more than|at most|larger than",
                                                              said.stderr + said.stdout):
        return None
    assert said.returncode in (0, 1), f"{words}: exit {said.returncode}: {said.stderr[-500:]}"
    return spent_s


def main():
    autotune, only = os.path.abspath(sys.argv[1]), sys.argv[3] if len(sys.argv) > 3 else None
    wrong = []
    with tempfile.TemporaryDirectory() as top:
        os.environ.update(XDG_STATE_HOME=top + "/state", AUTOTUNE_TURNS=top, AUTOTUNE_LIBCUDA=os.path.abspath(sys.argv[2]),
                          AUTOTUNE_LIBNVML="none", FAKE_CUDA_NAMES="NVIDIA H200")
        for size in SIZES:
            os.makedirs(f"{top}/{size}")
            write_cache(f"{top}/{size}/cache.json", size)
            write_record(f"{top}/{size}/records", size)
            write_script(f"{top}/{size}/script", size, 0)
            write_script(f"{top}/{size}/long", 100, size)
            write_kernel_file(f"{top}/{size}/kernel.cu", size)
            os.makedirs(f"{top}/{size}/few")
        for name, words in COMMANDS.items():
            if only and name != only:
                continue
            times = []
            for size in SIZES:
                if size < SIZES[-1] or (times[-1] or 0) < CHEAP_S:
                    times.append(measure(autotune, words.format(size=size), f"{top}/{size}"))
            print(f"{name:20} " + "  ".join("refused" if t is None else f"{t:7.2f} s" for t in times), flush=True)
            for small, large, size in zip(times, times[1:], SIZES[1:]):
                noise_s = NOISE_S if size == SIZES[-1] else NOISE_S / 3
                if large is not None and large > MOST_RATIO * max(small or 0, noise_s):
                    wrong.append(f"{name}: {large:.2f} s for {size}, after {small:.2f} s for a tenth of that")
    for text in wrong:
        print("WRONG:", text)
    sys.exit(1 if wrong else 0)


main()
