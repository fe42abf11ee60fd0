#!/usr/bin/env python3
"""Compares the simulator's counters with Nsight Compute's on the GPU at hand.

    counters_vs_ncu.py BUILD_DIR [--ncu PATH] [--output TABLE.md]

For each variant of VARIANTS the same problem is counted twice: by `autotune explain --json` and by
`ncu` watching one launch (tests/bench/run_variant.c). Requests and sectors of global memory must be
equal, bank conflicts of shared memory within 2 %. Prints a Markdown table; exit code 1 when a
counter disagrees, 77 when there is no ncu or no GPU.
"""
import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys

GLOBAL = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
]
SHARED = [
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
]

SMALL = {"rows": 512, "cols": 1024}
# (script, configuration, problem): small enough that the simulator runs every block.
VARIANTS = [("transpose", c, SMALL) for c in (
    "algorithm=naive,tile_x=32,tile_y=32,block_rows=8,pad=0",
    "algorithm=naive,tile_x=16,tile_y=16,block_rows=16,pad=0",
    "algorithm=tile,pad=0",
    "algorithm=tile,pad=1",
    "algorithm=tile,pad=2",
    "algorithm=tile,pad=4",
    "algorithm=tile,pad=0,swizzle=xor",
    "algorithm=tile,tile_x=64,tile_y=64,block_rows=8,pad=1",
    "algorithm=tile,tile_x=64,tile_y=64,load_vec=4,store_vec=4,block_rows=32,pad=1",
    "algorithm=tile,tile_x=64,tile_y=64,load_vec=2,store_vec=2,block_rows=16,pad=0,swizzle=xor",
    "algorithm=registers,tile_x=64,tile_y=64,load_vec=4,store_vec=2,block_rows=32,pad=0,swizzle=xor",
    "algorithm=registers,tile_x=64,tile_y=64,load_vec=2,store_vec=2,block_rows=16,pad=0",
)] + [("strided", c, {"n": 1 << 16, "stride": s}) for s in (1, 2, 4, 8, 32) for c in (
    "algorithm=direct",
)] + [("misaligned", c, {"n": 1 << 16, "offset": o}) for o in (0, 1, 3, 8) for c in (
    "algorithm=direct",
    "algorithm=two_loads,words=4",
)] + [("vector_add", f"width={w}", {"n": 3 << 15}) for w in (1, 2, 3, 4, 8)
] + [("bank_conflict", f"element={e}", {"n": 1 << 14, "stride": s, "passes": 2})
     for e in (4, 8, 16) for s in (e // 4, e // 2, 3 * e // 4, 16, 32)
] + [("dot", f"algorithm={a}", {"n": 1 << 16}) for a in ("warp", "tree", "shuffle")]


def simulate(autotune, script, config, problem):
    command = [autotune, "explain", script + ".lua", "--json", "--config", config]
    for name, value in problem.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0]
    return json.loads(done.stdout), None


def number(text):
    return int(float(text.replace(",", "")))


def profile(ncu, runner, entry, script, config, problem):
    command = [ncu, "--csv", "--metrics", ",".join(GLOBAL + SHARED), "--kernel-name", entry,
               "--target-processes", "all", "--cache-control", "none", "--clock-control", "none",
               runner, script + ".lua", config] + [f"{n}={v}" for n, v in problem.items()]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [l for l in done.stdout.splitlines() if l.startswith('"')]
    found = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        if row.get("Metric Name") in GLOBAL + SHARED:
            found[row["Metric Name"]] = number(row["Metric Value"])
    if not found:
        return None, (done.stdout + done.stderr).strip()[-300:]
    return found, None


def compare(simulated, measured):
    """(all within bounds, cells)"""
    good, cells = True, []
    for name in GLOBAL + SHARED:
        a, b = simulated.get(name, 0), measured.get(name, 0)
        fine = a == b if name in GLOBAL else abs(a - b) <= 0.02 * max(b, 50)
        good = good and fine
        cells.append(f"{a}" if a == b else f"{a} / {b}" + ("" if fine else " !"))
    return good, cells


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("--ncu", default=shutil.which("ncu") or "/usr/local/cuda/bin/ncu")
    arguments.add_argument("--output")
    arguments.add_argument("--simulate-only", action="store_true",
                           help="only check that every variant can be simulated")
    a = arguments.parse_args()
    autotune = os.path.join(a.build, "bin", "autotune")
    runner = os.path.join(a.build, "tests", "run_variant")
    os.environ.setdefault("AUTOTUNE_SHARE", os.path.join(a.build, "share", "autotune"))
    if not a.simulate_only and not os.path.exists(a.ncu):
        print("there is no ncu", file=sys.stderr)
        return 77
    head = ["pattern", "configuration", "problem", "ld requests", "ld sectors", "st requests",
            "st sectors", "ld conflicts", "st conflicts"]
    rows, bad, compared = [], 0, 0
    for script, config, problem in VARIANTS:
        simulated, why = simulate(autotune, script, config, problem)
        if simulated is None:
            print(f"{script} {config}: {why}", file=sys.stderr)
            bad += 1
            continue
        if a.simulate_only:
            compared += 1
            continue
        measured, why = profile(a.ncu, runner, simulated["entry"], script, config, problem)
        if measured is None:
            print(f"{script} {config}: ncu: {why}", file=sys.stderr)
            bad += 1
            continue
        good, cells = compare(simulated["metrics"], measured)
        bad += not good
        compared += 1
        rows.append([script, config, " ".join(f"{n}={v}" for n, v in problem.items())] + cells)
    text = "\n".join(["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head)] + rows])
    summary = (f"{compared} variants simulated, {bad} failed" if a.simulate_only else
               f"{compared} variants compared, {bad} failed; simulated / measured where they differ")
    if rows:
        print(text + "\n")
    print(summary)
    if a.output:
        with open(a.output, "w") as f:
            f.write(text + "\n\n" + summary + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
