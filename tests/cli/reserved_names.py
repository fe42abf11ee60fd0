#!/usr/bin/env python3
"""Checks that no member of an exported header has the name of a macro of headers that programs include before it.

Usage: reserved_names.py BINARY           checks; exit code 1 names the macros missing in lua/lib/reserved_names.lua
       reserved_names.py BINARY sample    checks only the macros of C's headers
       reserved_names.py BINARY --write   adds the missing macros there

The installed compilers (gcc, g++, clang, mpicc, nvcc) list the macros. Each macro becomes a variable of a pattern
whose header is exported. Then all these headers are compiled after the headers that define the macros. Macros with
arguments do no harm, because no member is called.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.realpath(__file__))
LIST = os.path.join(HERE, "../../lua/lib/reserved_names.lua")
C = ("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdbool stddef "
     "stdint stdio stdlib stdnoreturn string threads time uchar wchar wctype dirent dlfcn fcntl pthread sched semaphore "
     "strings unistd sys/mman sys/stat sys/time sys/types sys/wait sys/socket sys/ioctl netinet/in").split()
CPP = ("algorithm array atomic bit bitset cmath complex cstdint iostream limits map memory numbers numeric ranges string "
       "thread vector version").split()
CUDA = "cuda cuda_runtime cuda_fp16 cuda_bf16 math_constants cuComplex nvrtc cublas_v2 cufft curand cusparse nvml".split()
NOT_OF_CPP = {"complex", "iso646", "stdalign", "stdbool", "stdnoreturn", "threads"}


def includes(names, ending=".h"):
    return "".join(f"#include <{name}{ending}>\n" for name in names)


def here(compiler, names, *options):
    """Returns the headers of `names` that exist."""
    return [n for n in names if subprocess.run([*compiler, *options, "-E", "-"], input=includes([n]), text=True,
                                               capture_output=True).returncode == 0]


def sources(cuda_include):
    """Yields (preprocessor command, source) of headers that define macros."""
    gnu = ["-D_GNU_SOURCE"]
    both = includes(c for c in C if c not in NOT_OF_CPP) + includes(CPP, "")
    ways = [(["gcc", "-std=gnu17", *gnu, "-x", "c"], includes(C)), (["g++", "-std=gnu++20", "-x", "c++"], both),
            (["clang", *gnu, "-x", "c"], includes(C)), (["gcc", "-fopenmp", "-x", "c"], includes(["omp"])),
            (["mpicc", "-x", "c"], includes(["mpi"]))]
    if cuda_include:
        at = ["gcc", "-x", "c", f"-I{cuda_include}"]
        ways.append((at, includes(here(at, CUDA))))
        ways.append((["nvcc", "-x", "cu", "-Xcompiler"], includes(["cub/cub"], ".cuh")))
    return [(way, text) for way, text in (ways[:1] if "sample" in sys.argv else ways) if shutil.which(way[0])]


def macros(cuda_include):
    found, used = set(), []
    for way, text in sources(cuda_include):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as source:
            source.write(text)
            source.flush()
            run = subprocess.run([*way, "-dM", "-E", source.name], capture_output=True, text=True)
        if run.returncode == 0:
            used.append(way[0])
            found.update(re.findall(r"^#define ([A-Za-z]\w*)(?![\w(])", run.stdout, re.M))
    return found, used


def members(binary, folder, place, names):
    """Returns the exported header's names of its problem's variables, {name: member}, or None if the script refuses
    one."""
    with open(os.path.join(folder, "p.lua"), "w") as to:
        to.write('local at = require "autotune"\nreturn at.pattern { name = "p%d", space = { block = { 1, 2 } },\n'
                 '  kernel = { template = "k.cu" }, problem = { %s } }\n'
                 % (place, ", ".join(f'["{n}"] = {i}' for i, n in enumerate(names))))
    with open(os.path.join(folder, "k.cu"), "w") as to:
        to.write('extern "C" __global__ void p%d() {}\n' % place)
    header = os.path.join(folder, f"p{place}.h")
    run = subprocess.run([binary, "export", "p.lua", "--format", "header", "-o", header], cwd=folder,
                         capture_output=True, text=True)
    if run.returncode != 0:
        return None
    text = open(header).read()
    body = re.search(r"typedef struct autotune_p%d_problem \{\n(.*?)\}" % place, text, re.S)[1]
    return dict(zip(names, re.findall(r"^ +\w+ (\w+);", body, re.M)))


def exported(binary, folder, names):
    """Returns {macro: member} and the number of headers written, p0.h and so on."""
    out, waiting, place = {}, [names[i:i + 50] for i in range(0, len(names), 50)], 0
    while waiting:
        some = waiting.pop()
        found = members(binary, folder, place, some)
        if found is None and len(some) > 1:
            waiting += [some[:len(some) // 2], some[len(some) // 2:]]
        elif found:
            out.update(found)
            place += 1
    return out, place


def compiles(folder, count, cuda_include):
    mine = "".join(f'#include "p{i}.h"\n' for i in range(count))
    failed = []
    for way, text in sources(cuda_include):
        name = {"nvcc": "all.cu", "g++": "all.cc"}.get(way[0], "all.c")
        with open(os.path.join(folder, name), "w") as to:
            to.write(text + mine + "int main(void) { return 0; }\n")
        run = subprocess.run([*[w for w in way if w != "-Xcompiler"], "-c", name, "-o", "all.o"], cwd=folder,
                             capture_output=True, text=True)
        if run.returncode != 0:
            failed.append(f"{' '.join(way)}: {run.stderr[:1500]}")
    return failed


def write_list(missing):
    text = open(LIST).read()
    start = text.index("[[\n") + 3
    names = sorted(set(text[start:text.index("]]")].split()) | set(missing))
    with open(LIST, "w") as to:
        to.write(text[:start] + textwrap.fill(" ".join(names), 110, break_long_words=False) + "\n]]\n")


def main():
    binary = os.path.realpath(sys.argv[1])
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    cuda_include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "include")
    if not os.path.exists(os.path.join(cuda_include, "cuda.h")):
        cuda_include = None
    found, used = macros(cuda_include)
    found -= {n for n in found if len(n) > 60}
    with tempfile.TemporaryDirectory() as folder:
        made, count = exported(binary, folder, sorted(found))
        missing = sorted(n for n, member in made.items() if member in found)
        if missing and "--write" in sys.argv:
            write_list(missing)
            print(f"{len(missing)} names were added")
            return
        if missing:
            sys.exit(f"{len(missing)} macros are names of members (--write adds them): {' '.join(missing)[:2000]}")
        assert len(made) > 1000, f"only {len(made)} macros were found by {used}"
        failed = compiles(folder, count, cuda_include)
    if failed:
        sys.exit("\n".join(failed))
    print(f"{len(made)} macros of {', '.join(used)} are no names of members, in {count} headers")


main()
