#!/usr/bin/env python3
"""The spill thresholds that `autotune spills` bisects are those of compiling every point, for a tenth of the
compilations.

usage: thresholds.py AUTOTUNE sample|all
"""
import json
import subprocess
import sys

ARCHS = "sm_80,sm_90,sm_100"
# Kernels whose threshold lies in the middle of the caps, and one that never spills.
SUBJECTS = [
    ("spill.lua", "live=32", "16,...,127"),
    ("transpose.lua", "algorithm=registers,tile_x=128,tile_y=128,load_vec=4,store_vec=4,block_rows=32,pad=0,"
     "swizzle=xor,order=grouped_rows,group=8,store_hint=through", "16,...,127"),
    ("spill.lua", "live=96,vec=4", "16,...,255"),
    ("conv2d.lua", "algorithm=window,block_x=16,block_y=8,width=4,height=16,coefficients=immediate", "16,...,127"),
    ("matmul.lua", "algorithm=tile,tile_m=64,tile_n=128,tile_k=8,thread_m=8,thread_n=8,lanes_m=4,"
     "layout_a=columns,pad=4,vec=4,staging=registers,stages=2,unroll=8,min_blocks=1,group=1", "88,...,183"),
    ("stencil1d.lua", "algorithm=window,block=64,width=16,items=1,load_hint=none,store_hint=none", "16,...,127"),
]


def explore(autotune, script, config, caps, archs, *more):
    text = subprocess.run([autotune, "spills", script, "--config", config, "--over", "registers=" + caps,
                           "--arch", archs, "--json", *more], check=True, capture_output=True, text=True).stdout
    return json.loads(text)["archs"]


def main():
    autotune, mode = sys.argv[1:]
    subjects, archs = (SUBJECTS, ARCHS) if mode == "all" else (SUBJECTS[:2], "sm_90")
    wrong = 0
    for script, config, caps in subjects:
        for quick, whole in zip(explore(autotune, script, config, caps, archs),
                                explore(autotune, script, config, caps, archs, "--whole")):
            found, true = quick["lines"][0], whole["lines"][0]
            # A single cap may spill amid others that do not: the threshold is then the change with the fewest
            # exceptions, which need not be found.
            right = found["threshold"] == true["threshold"] and true["kind"] in (found["kind"], "mixed")
            cheap = found["kind"] == "mixed" or quick["compiled"] <= quick["of"] / 10
            wrong += not (right and cheap and whole["compiled"] == whole["of"])
            print(f"{script} {quick['arch']}: {found['kind']} at {found['threshold']}, compiling every point "
                  f"{true['kind']} at {true['threshold']}; {quick['compiled']} of {quick['of']} compiled"
                  f"{'' if right and cheap else '  WRONG'}", flush=True)
    return 1 if wrong else 0


sys.exit(main())
