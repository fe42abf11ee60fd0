#!/usr/bin/env python3
"""Checks the verdict of `autotune check` on each kernel of this folder.

Usage: run.py BINARY [PART...]   only cases whose path contains one of the parts; -v prints each case
       run.py -a BINARY [PART...]    also runs each case on all cores, instead of every third
       run.py -g DEVICE BINARY [PART...]    on a GPU: kernels that are called right must have right results there
       run.py -s BINARY [PART...]    a sample: every 24th case that includes headers of the Toolkit, whose
                                     compilation takes a second each, and every eighth of the others

A case is a file KIND/NAME.case:

    right                    must be proven: exit code 0
    wrong REGEX              must be rejected as wrong, with a message that matches REGEX: exit code 1
    unknown REGEX            must be called not proven, with a reason that matches REGEX: exit code 3
    refused REGEX            an error of the pattern or its reference that matches REGEX: exit code 2
    Lines that give the reason.
    [pattern]                Lua that changes the pattern `p` below; optional
    [kernel]                 CUDA C++ with the entry `k`
    [reference]              CUDA C++ with the entry `reference`; default: dst[i] = src[i]
    [file NAME]              another file beside these; optional

Every case is checked on one core, and every third also on all cores: the output must be the same, byte by byte. Exit
code 1 if a verdict is wrong. The file `pending` lists cases whose verdict is known to be wrong; a case whose verdict
has become right must be removed from it.
"""
import os
import queue
import re
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATTERN = """local at = require "autotune"
local p = {
  name = "verdict", problem = { n = 16384 }, ragged = { n = 1003 }, simulated = { n = 4096 },
  space = { variant = { 1 } },
  buffers = {
    src = at.input { dtype = "float", count = "n" },
    dst = at.output { dtype = "float", count = "n" },
  },
  kernel = { template = "kernel.cu", entry = "k", args = { "src", "dst", at.int32 "n" } },
  launch = { grid = "ceil_div(n, 128)", block = 128 },
  traffic = "8 * n",
  reference = at.reference { template = "reference.cu", args = { "src", "dst", at.int32 "n" },
                             grid = "ceil_div(n, 128)", block = 128 },
  tolerance = 0,
}
%s
return at.pattern(p)
"""
REFERENCE = """extern "C" __global__ void reference(const float *src, float *dst, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dst[i] = src[i];
}
"""
EXITS = {"right": 0, "wrong": 1, "refused": 2, "unknown": 3}


def parse(path):
    """Reads a case. Returns (expected verdict, regex of the message, {section: text})."""
    lines = path.read_text().splitlines(keepends=True)
    expected, _, regex = lines[0].strip().partition(" ")
    if expected not in EXITS or (expected == "right") != (regex == ""):
        sys.exit(f"{path}:1: 'right', or 'wrong', 'unknown' or 'refused' and a REGEX, is expected")
    sections, name = {"pattern": "", "reference": REFERENCE}, None
    for line in lines[1:]:
        header = re.fullmatch(r"\[(pattern|kernel|reference|file [\w.]+)\]\n?", line)
        if header:
            name = header[1]
            sections[name] = ""
        elif name:
            sections[name] += line
    if "kernel" not in sections:
        sys.exit(f"{path}: it has no [kernel]")
    return expected, regex, sections


def check(binary, folder, cores):
    found = subprocess.run([binary, "check", "pattern.lua", "--device", "sim:sm_90", "--jobs", "1"],
                           cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=120,
                           preexec_fn=lambda: os.sched_setaffinity(0, cores))
    return found.returncode, found.stdout, found.stderr


def write(folder, sections):
    texts = {"pattern.lua": PATTERN % sections["pattern"], "kernel.cu": sections["kernel"],
             "reference.cu": sections["reference"]}
    texts.update((name[5:], text) for name, text in sections.items() if name.startswith("file "))
    for name, text in texts.items():
        (Path(folder) / name).write_text(text)


def judge_on_gpu(binary, path, device):
    """Returns None if all variants are right on the GPU `device`, otherwise an error message."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, parse(path)[2])
        try:
            found = subprocess.run([binary, "pattern.lua", "--device", device, "--no-record", "--quiet", "--jobs", "1"],
                                   cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "it does not end"
    tried = re.search(r"^variants +([\d,]+) tried .*: ([\d,]+) ok$", found.stdout, re.MULTILINE)
    return None if tried and tried[1] == tried[2] else f"exit code {found.returncode}: {found.stdout[-1500:]}"


def judge(binary, path, on_all, core):
    """Returns None if the verdict is the expected one, otherwise an error message. The case runs on `core` alone."""
    expected, regex, sections = parse(path)
    with tempfile.TemporaryDirectory() as folder:
        write(folder, sections)
        every = sorted(os.sched_getaffinity(0))
        try:
            status, verdict, notes = check(binary, folder, [core])
            text = notes + verdict
            if status != EXITS[expected]:
                return f"exit code {status}, not {EXITS[expected]}: {text[:1500]}"
            if not re.search(regex, text):
                return f"nothing says '{regex}': {text[:1500]}"
            # Status and verdict must be the same on several cores.
            if on_all and len(every) > 1 and check(binary, folder, every)[:2] != (status, verdict):
                return f"another verdict on {len(every)} cores than on one: {text[:1500]}"
        except subprocess.TimeoutExpired:
            return "it does not end"
    return None


def is_every(path, nth):
    return zlib.crc32(path.name.encode()) % nth == 0


def is_on_all(path):
    return "-a" in sys.argv or is_every(path, 3)


def is_in_sample(path):
    return is_every(path, 24 if "#include <" in path.read_text() else 8)


def is_tunable(path):
    expected, _, sections = parse(path)
    return expected == "right" and "oracle = false" not in sections["pattern"]


def main():
    arguments = [a for a in sys.argv[1:] if a not in ("-v", "-a", "-s", "-g")]
    device = arguments.pop(0) if "-g" in sys.argv and arguments else None
    if not arguments:
        sys.exit(__doc__)
    binary, parts = os.path.realpath(arguments[0]), arguments[1:]
    cases = [p for p in sorted(HERE.glob("*/*.case"))
             if (not parts or any(part in str(p) for part in parts)) and
             ("-s" not in sys.argv or is_in_sample(p)) and (not device or is_tunable(p))]
    if not cases:
        sys.exit(f"no case of that name in {HERE}")
    pending = HERE / "pending"
    pending = set(pending.read_text().split()) if pending.exists() else set()
    failed = 0
    cores = queue.SimpleQueue()
    for core in sorted(os.sched_getaffinity(0))[:16]:
        cores.put(core)

    def judge_on_a_core(path):
        core = cores.get()
        try:
            return judge_on_gpu(binary, path, device) if device else judge(binary, path, is_on_all(path), core)
        finally:
            cores.put(core)

    def found(pool):
        judged = list(pool.map(judge_on_a_core, cases))
        # A case that ran out of GPU memory beside other cases is tried again alone.
        return [judge_on_gpu(binary, path, device) if wrong and device and "of device memory" in wrong else wrong
                for path, wrong in zip(cases, judged)]

    with ThreadPoolExecutor(cores.qsize()) as pool:
        for path, wrong in zip(cases, found(pool)):
            name = str(path.relative_to(HERE))
            if name in pending:
                wrong = None if wrong else "it is right now: take it off the list of the pending"
            failed += wrong is not None
            if wrong or "-v" in sys.argv:
                print(f"{'FAIL' if wrong else 'ok  '} {name} {wrong or ''}")
    print(f"verdicts: {len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
