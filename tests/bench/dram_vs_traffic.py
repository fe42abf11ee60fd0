#!/usr/bin/env python3
"""Counts the bytes that kernels move to and from a GPU's memory, beside the bytes that they must move.

    dram_vs_traffic.py BUILD_DIR [--ncu PATH] [--output TABLE.md]

One `ncu` watches a launch of each variant of VARIANTS (tests/bench/run_variant.c), with empty caches. A kernel's
last writes may still be in L2 when it ends, so the counted writes may lack up to the size of L2. Prints a Markdown
table, in MB (10^6 bytes). Exit code 77 if there is no ncu.
"""
import argparse
import os
import shutil
import sys

from counters_vs_ncu import profile

METRICS = {
    "read": "dram__bytes_read.sum",
    "written": "dram__bytes_write.sum",
    "busy": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "ns": "gpu__time_duration.sum",
}
N = 1 << 24
PARTICLES = {"n": N, "fields": 6}
# (script, configuration, problem, bytes that must be read, bytes that must be written)
VARIANTS = [
    ("aos_soa", "algorithm=direct", {**PARTICLES, "operation": operation, "layout": layout}, read * N, 12 * N)
    for operation, read in (("update", 24), ("scale", 12), ("set", 0)) for layout in ("aos", "soa")
] + [
    ("strided", "algorithm=direct", {"n": N, "stride": s}, min(4 * s, 32) * N, 4 * N) for s in (2, 4, 8, 16, 32)
] + [
    ("gather", "algorithm=direct", {"n": N, "order": "permutation"}, (4 + 32) * N, 4 * N),
    ("gather", "algorithm=direct,vec=4,items=2", {"n": N, "order": "local"}, (4 + 4) * N, 4 * N),
    ("vector_add", "width=4,block=512", {"n": 1 << 28}, 8 << 28, 4 << 28),
    ("dot", "algorithm=shuffle,block=1024,items=2,vec=4,accumulators=2", {"n": 1 << 28}, 8 << 28, 0),
    ("loop_order", "algorithm=bulk,block=256,vec=4,unroll=4", {"rows": 16384, "cols": 16384}, 4 << 28, 0),
    ("rgb", "algorithm=shared,block=64,pixels=8", {"n": 1 << 28}, 3 << 28, 3 << 28),
    ("conv2d", "algorithm=window,block_x=64,block_y=8,width=4,height=2,coefficients=immediate",
     {"rows": 16384, "cols": 16384, "size": 3}, 4 << 28, 4 << 28),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("--ncu", default=shutil.which("ncu") or "/usr/local/cuda/bin/ncu")
    arguments.add_argument("--output")
    a = arguments.parse_args()
    os.environ.setdefault("AUTOTUNE_SHARE", os.path.join(a.build, "share", "autotune"))
    if not os.path.exists(a.ncu):
        print("there is no ncu", file=sys.stderr)
        return 77
    counted = profile(a.ncu, os.path.join(a.build, "tests", "run_variant"), [v[:3] + (v[0],) for v in VARIANTS],
                      list(METRICS.values()), caches="all")
    rows = [["pattern", "configuration", "problem", "must read", "must write", "read", "written", "of what it must",
             "us", "memory busy"]]
    rows.append(["---"] * len(rows[0]))
    for (script, config, problem, read, write), found in zip(VARIANTS, counted):
        moved = {name: found[metric] for name, metric in METRICS.items()}
        rows.append([script, config, " ".join(f"{k}={v}" for k, v in problem.items()),
                     f"{read / 1e6:.0f}", f"{write / 1e6:.0f}", f"{moved['read'] / 1e6:.0f}",
                     f"{moved['written'] / 1e6:.0f}", f"{(moved['read'] + moved['written']) / (read + write):.2f}",
                     f"{moved['ns'] / 1e3:.1f}", f"{moved['busy']} %"])
    text = "\n".join("| " + " | ".join(r) + " |" for r in rows) + "\n"
    print(text, end="")
    if a.output:
        with open(a.output, "w") as f:
            f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
