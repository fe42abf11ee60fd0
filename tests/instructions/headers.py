#!/usr/bin/env python3
"""Checks that the simulated device knows every instruction that the functions of CUDA's headers compile to.

Usage: headers.py BINARY_OF_unknown.c [ARCHITECTURE]

Finds the functions that the headers declare and calls each in a kernel of its own, with arguments from memory. A
function that does not compile in this way is not device code. Exit code 1 if an instruction is unknown that is not
in the list below, 77 without NVRTC or its headers.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Kernels of CUDA C++ do not use these: the debugger's instructions, counters that are never set, and old votes
# without a mask of lanes.
LEFT_OUT = r"\bbrkpt\b|%pm[0-9]|\bvote\.(all|any|ballot)\.(pred|b32)"
HEADERS = """crt/math_functions.h crt/math_functions.hpp crt/device_functions.h crt/device_functions.hpp
crt/device_double_functions.h crt/common_functions.h crt/sm_70_rt.h crt/sm_80_rt.h crt/sm_90_rt.h sm_*.h device_*functions.h
cuda_fp16.h cuda_bf16.h cuda_fp8.h cuda_fp6.h cuda_fp4.h cuda_fp16.hpp cuda_bf16.hpp cuda_fp8.hpp cuda_fp6.hpp cuda_fp4.hpp
cuda_pipeline_primitives.h cuda_awbarrier_primitives.h""".split()
INCLUDED = "cuda_fp16.h cuda_bf16.h cuda_fp8.h cuda_fp6.h cuda_fp4.h cuda_pipeline_primitives.h cuda_awbarrier_primitives.h".split()
WORDS = set("""void bool char short int long float double unsigned signed size_t clock_t uint8_t uint16_t uint32_t uint64_t int8_t
__mbarrier_t __mbarrier_token_t""".split())
TYPE = re.compile(r"(__half2?(_raw)?|half2?|__nv_bfloat162?(_raw)?|__nv_fp\w+|__nv_saturation_t|cudaRoundMode|"
                  r"u?(char|short|int|long|longlong)[1-4]|(float|double)[1-4])$")
# values for arguments of types that do not allow every value
CONSTANTS = {"__nv_saturation_t": "__NV_SATFINITE", "__nv_fp8_interpretation_t": "__NV_E4M3", "__nv_fp6_interpretation_t": "__NV_E2M3",
             "__nv_fp4_interpretation_t": "__NV_E2M1", "cudaRoundMode": "cudaRoundNearest"}
AT_ONCE = 150


def type_in(text, more):
    return " ".join(w for w in re.findall(r"\w+|[*&]", text) if w in WORDS or w in more or TYPE.match(w))


def functions(folder):
    """Returns {(name, types of the arguments): whether it returns a value} for the functions that the headers
    declare."""
    found = {}
    for path in sorted(p for pattern in HEADERS for p in folder.glob(pattern)):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(errors="replace"), flags=re.S)
        text = re.sub(r"//[^\n]*|^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        for before, name, given in re.findall(r"([\w\s*&]+?)\b(\w+)\s*\(([^(){};]*)\)\s*(?:__THROW|noexcept)?\s*[;{]", text):
            result = type_in(before, "*")
            types = tuple(type_in(a.split("=")[0], "*&") for a in given.split(",")) if given.strip() not in ("", "void") else ()
            if result and all(types) and name not in ("if", "while", "for", "switch", "return", "sizeof"):
                found[name, types] = result != "void"
    return sorted(found.items())


def kernel(i, name, types, gives):
    code, names = [], []
    for j, kind in enumerate(types):
        plain = kind.replace("&", "").strip()
        if kind in CONSTANTS:
            names.append(CONSTANTS[kind])
            continue
        names.append(f"a{j}")
        code.append(f"{plain} a{j} = " + (f"({plain})(p + {1024 + 64 * j});" if "*" in plain else f"*({plain} *)(p + {64 * j});"))
    call = f"{name}({', '.join(names)})"
    code.append(f"auto r = {call}; *(decltype(r) *)(p + 512) = r;" if gives else f"{call};")
    if not gives:
        code += [f"*({t.replace('&', '').strip()} *)(p + {2048 + 64 * j}) = a{j};" for j, t in enumerate(types) if "&" in t]
    return f"extern \"C\" __global__ void k{i}(char *p) {{ {' '.join(code)} }}\n"


def run(binary, *arguments):
    return subprocess.run([binary, *map(str, arguments)], capture_output=True, text=True)


def unknown_of(binary, architecture, found, numbers, source):
    """Returns lines about the kernels of the functions that compile, and their number."""
    head = "".join(f"#include <{h}>\n" for h in INCLUDED)
    while numbers:
        source.write_text(head + "".join(kernel(i, *found[i][0], found[i][1]) for i in numbers))
        done = run(binary, source, architecture)
        if done.returncode != 2:
            return done.stdout.splitlines(), len(numbers)
        wrong = {int(n) - len(INCLUDED) - 1 for n in re.findall(r"functions\.cu\((\d+)\): (?:catastrophic )?error", done.stdout)}
        kept = [n for at, n in enumerate(numbers) if at not in wrong]
        if kept == numbers:
            sys.exit(done.stdout)
        numbers = kept
    return [], 0


def main():
    binary, architecture = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "90"
    asked = run(binary, "-", architecture)
    folder = Path(asked.stdout.partition(" ")[2].strip() or "/nowhere")
    if asked.returncode or not (folder / "cuda_fp4.h").exists():
        print("skipped: there is no NVRTC with the headers of CUDA 12.8 or newer " + asked.stderr)
        sys.exit(77)
    found, taken, missing = functions(folder), 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for first in range(0, len(found), AT_ONCE):
            numbers = list(range(first, min(first + AT_ONCE, len(found))))
            lines, count = unknown_of(binary, architecture, found, numbers, Path(scratch) / "functions.cu")
            taken += count
            for line in lines:
                name, _, text = line.partition("\t")
                if not re.search(LEFT_OUT, text):
                    missing.append(f"{found[int(name[1:])][0][0]}(): {text.strip()}")
    print("\n".join(missing + [f"{taken} functions of {folder}, for compute_{architecture}: {len(missing)} instructions not known"]))
    sys.exit(1 if missing or taken < 900 else 0)


if __name__ == "__main__":
    main()
