#!/usr/bin/env python3
"""Checks that the spill thresholds that `autotune spills` finds by bisection are those of compiling every point, with a
tenth of the compilations.

usage: thresholds.py AUTOTUNE sample|all

`all` prints a Markdown table: docs/development/spill_thresholds.md. A response that goes back and forth must be
found out, which costs every point. If its exceptions are single caps, they may be missed, but the threshold must be right.
"""
import json
import os
import subprocess
import sys

ARCHS = ["sm_80", "sm_90", "sm_100"]
BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bench", "landscapes")
# Kernels with a threshold inside the range of caps, a kernel whose response alternates, and a kernel that never
# spills.
SUBJECTS = [
    ("spill.lua", "live=32"),
    ("spill.lua", "live=96,vec=4"),
    ("transpose.lua", "algorithm=registers,tile_x=128,tile_y=128,load_vec=4,store_vec=4,block_rows=32,pad=0,"
     "swizzle=xor,order=linear,group=1,store_hint=none"),
    ("conv2d.lua", "algorithm=window,block_x=16,block_y=8,width=4,height=16,coefficients=immediate"),
    (os.path.join(BENCH, "product.lua"), "tile_m=64,tile_n=64,threads_m=8,threads_n=8,layout=blocked,vec=4"),
    (os.path.join(BENCH, "product.lua"), "tile_m=64,tile_n=64,threads_m=16,threads_n=16,layout=strided"),
    ("matmul.lua", "algorithm=tile,tile_m=64,tile_n=128,tile_k=8,thread_m=8,thread_n=8,lanes_m=4,"
     "layout_a=columns,pad=4,vec=4,staging=registers,stages=2,unroll=8,registers=168,group=1"),
    ("stencil1d.lua", "algorithm=window,block=64,width=16,items=1,load_hint=none,store_hint=none"),
]


def explore(autotune, script, config, caps, arch, *more):
    text = subprocess.run([autotune, "spills", script, "--config", config, "--over", "registers=" + caps,
                           "--arch", arch, "--json", *more], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["archs"][0]


def told(line):
    return (f"{line['kind']} at {line['threshold']}" if line["threshold"] is not None
            else line["kind"])


def main():
    autotune, mode = sys.argv[1:]
    subjects, archs, caps = (SUBJECTS, ARCHS, "16,...,255") if mode == "all" else (SUBJECTS[:1], ["sm_90"], "16,...,127")
    wrong, equal = 0, 0
    print("| kernel | architecture | bisected | compiled | every point compiled | |\n|---|---|---|---|---|---|")
    for script, config in subjects:
        for arch in archs:
            quick = explore(autotune, script, config, caps, arch)
            whole = explore(autotune, script, config, caps, arch, "--whole")
            found, true = quick["lines"][0], whole["lines"][0]
            right = (found["threshold"] == true["threshold"] and true["kind"] in (found["kind"], "mixed")
                     and whole["compiled"] == whole["of"])
            cheap = quick["compiled"] <= quick["of"] / 10
            good = right and (cheap or found["kind"] == "mixed")
            wrong += not good
            equal += right and cheap
            verdict = "equal, for a tenth" if right and cheap else "equal, said to go back and forth" if good else "WRONG"
            print(f"| `{os.path.basename(script)} --config {config}` | {arch} | {told(found)} | {quick['compiled']} of "
                  f"{quick['of']} | {told(true)} | {verdict} |", flush=True)
    print(f"\n{equal} of {len(subjects) * len(archs)} thresholds are equal for a tenth of the compilations, {wrong} wrong.")
    return 1 if wrong else 0


sys.exit(main())
