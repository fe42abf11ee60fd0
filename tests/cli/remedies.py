#!/usr/bin/env python3
"""Checks messages about names that nvcc knows and NVRTC does not: the message names a remedy, and the remedy works.

Usage: remedies.py BINARY [sample]

A case is an include, a statement that needs it, and the expected remedy: None if the message names an include with
which the statement compiles, or else a text of the message. `sample` tries every fourth case.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HOST = "compiles for the device alone"
LEAVE = "leave it out"
CASES = [
    # headers
    ("cstdint", "int32_t x = 1", None), ("stdint.h", "uint64_t x = UINT64_MAX", None), ("climits", "int x = INT_MAX", None),
    ("limits.h", "int x = CHAR_BIT", None), ("cmath", "float x = NAN", None), ("math.h", "float x = INFINITY", None),
    ("stddef.h", "size_t x = 1", None), ("cstddef", "size_t x = 1", None), ("limits", "int x", None),
    ("type_traits", "int x", None), ("array", "int x", None), ("tuple", "int x", None), ("complex", "int x", None),
    ("cfloat", "float x = cuda::std::numeric_limits<float>::max()", None),
    ("float.h", "double x = cuda::std::numeric_limits<double>::epsilon()", None),
    ("stdio.h", "", LEAVE), ("cstdio", "", LEAVE), ("cassert", "", LEAVE), ("string.h", "", LEAVE), ("cstdlib", "", LEAVE),
    ("algorithm", "", LEAVE),
    ("iostream", "", HOST), ("vector", "", HOST), ("string", "", HOST), ("unistd.h", "", HOST), ("sys/time.h", "", HOST),
    ("unordered_map", "", HOST), ("helper_math.h", "", "CUDA samples"), ("mine/own.h", "", "no file of that name"),
    ("thrust/sort.h", "", "cub/block/block_reduce.cuh"), ("cub/cub.cuh", "", "cub/block/block_reduce.cuh"),
    # names
    (None, "float x = INFINITY", None), (None, "float x = NAN", None), (None, "uint32_t x = 1", None),
    (None, "int8_t x = INT8_MIN", None), (None, "uintptr_t x = 1", None), (None, "int x = INT32_MAX", None),
    (None, "size_t x = SIZE_MAX", None), (None, "long x = LONG_MAX", None), (None, "unsigned x = UINT_MAX", None),
    (None, "half x", None), (None, "__half2 x", None), (None, "__nv_bfloat16 x", None), (None, "__nv_fp8_e4m3 x", None),
    (None, "cuFloatComplex x", None), (None, "curandState x", None), (None, "float x = CUDART_INF_F", None),
    (None, "double x = M_PI", "CUDART_PI"), (None, "float x = HUGE_VALF", "CUDART_INF_F"),
    (None, "float x = FLT_MAX", "cuda::std::numeric_limits"), (None, "double x = DBL_EPSILON", "cuda/std/limits"),
    (None, "uint x", "unsigned int"), (None, "exit(1)", "__trap()"), (None, "int x = rand()", "curand_kernel.h"),
    (None, "int x = std::min(n, i)", "cuda::std::min"), (None, "std::uint32_t x", "cuda/std/cstdint"),
    (None, "float x = std::numeric_limits<float>::max()", "cuda/std/limits"),
    (None, "cooperative_groups::this_grid().sync()", "cooperative_groups.h"),
]
PATTERN = """local at = require "autotune"
return at.pattern { name = "p", problem = { n = 64 }, space = { v = { 1 } },
  buffers = { dst = at.output { dtype = "int32", count = "n" } },
  kernel = { template = "k.cu", entry = "k", args = { "dst", at.int32 "n" } }, launch = { grid = 1, block = 64 },
  traffic = "4 * n", reference = at.reference { template = "k.cu", entry = "k" } }
"""


def compiled(binary, folder, header, statement, before=""):
    with open(os.path.join(folder, "k.cu"), "w") as to:
        to.write(before + (f"#include <{header}>\n" if header else "")
                 + 'extern "C" __global__ void k(int *dst, int n) '
                 + "{ int i = threadIdx.x; { %s; } if (i < n) dst[i] = i; }\n" % statement)
    run = subprocess.run([binary, "emit", "p.lua", "--arch", "sm_90", "--ptx"], cwd=folder, capture_output=True, text=True)
    return run.returncode == 0, run.stderr


def judge(binary, case):
    header, statement, wanted = case
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "p.lua"), "w") as to:
            to.write(PATTERN)
        fine, said = compiled(binary, folder, header, statement)
        told = " ".join("\n".join(said.splitlines()[:2]).split())
        if fine:
            return "it compiles"
        if wanted:
            return None if wanted in told else f"nothing says '{wanted}': {said}"
        remedy = re.search(r"<((?!%s>)[\w/.]+)>" % re.escape(header or ""), told.split("; ", 1)[-1])
        if not remedy:
            return f"no header is named: {said}"
        fine, said = compiled(binary, folder, None, statement, f"#include <{remedy[1]}>\n")
        return None if fine else f"with <{remedy[1]}>: {said}"


def main():
    binary = os.path.realpath(sys.argv[1])
    cases = CASES[::4] if "sample" in sys.argv else CASES
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        wrong = [f"{case[:2]}: {why}" for case, why in zip(cases, pool.map(lambda c: judge(binary, c), cases)) if why]
    print("\n".join(wrong) or f"{len(cases)} remedies work")
    sys.exit(1 if wrong else 0)


main()
