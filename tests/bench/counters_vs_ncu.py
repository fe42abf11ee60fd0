#!/usr/bin/env python3
"""Compares the simulator's counters, or those of `autotune profile`, with Nsight Compute's on this machine's GPU.

    counters_vs_ncu.py BUILD_DIR [--landscapes results/GPU/landscapes/counted] [--profile] [--all] [--ncu PATH]
    [--output TABLE.md]

For each variant of VARIANTS the same problem is counted twice: by `autotune explain --json` and by one `ncu` for all
of them, with a launch each (tests/bench/run_variant.c). Requests and sectors of global memory must be equal, bank
conflicts of shared memory within 2 %.

The hardware's counter of bank conflicts also counts cycles that an access waits because the banks are busy, for
example with data that other warps loaded. These cycles differ between launches and are not a property of the
accesses. Nsight Compute counts wavefronts of shared memory in two ways: where the data pass
(l1tex__data_pipe_lsu_wavefronts_mem_shared), and from the instructions and their addresses
(smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared). The difference is the number of these cycles. It is
subtracted from the conflicts and shown in columns of its own.

With --profile the counts of `autotune profile --json` are compared with ncu's, each within 1 %, including
instructions, wavefronts and local memory: all counters that do not depend on the contents of the caches. Each
profile takes a process, so only the variants of FEW are compared, unless --all is given.

Prints a Markdown table. Exit code 1 if a counter disagrees, 77 if there is no ncu or no GPU.
"""
import argparse
import concurrent.futures
import csv
import gzip
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
WAVEFRONTS = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
]
BY_INSTRUCTION = [name.replace("l1tex__", "smsp__sass_l1tex_") for name in WAVEFRONTS]
# more counters that --profile compares
MORE = WAVEFRONTS + [
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "smsp__inst_executed.sum",
]

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = {"rows": 512, "cols": 1024}
# (script, configuration, problem); a problem is so small that the simulator runs every block
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
)] + [("vector_add", f"width={w}", {"n": 3 << 15}) for w in (1, 2, 4, 8)
] + [("bank_conflict", f"element={e}", {"n": 1 << 14, "stride": s, "passes": 2})
     for e in (4, 8, 16) for s in (e // 4, e // 2, 3 * e // 4, 16, 32)
] + [("dot", f"algorithm={a}", {"n": 1 << 16}) for a in ("warp", "tree", "shuffle")
] + [(os.path.join(HERE, "landscapes", "product"), c, {"n": 256}) for c in (
    "tile_m=32,tile_n=32,threads_m=8,threads_n=8,layout=strided",
    "tile_m=64,tile_n=64,threads_m=8,threads_n=8,layout=blocked,vec=4",
    "tile_m=64,tile_n=64,threads_m=8,threads_n=8,layout=blocked,vec=4,pad=1",
    "tile_m=64,tile_n=64,threads_m=16,threads_n=16,tile_k=16,layout=blocked,vec=4",
    "tile_m=64,tile_n=64,threads_m=16,threads_n=16,layout=blocked,vec=2,pad=1",
    "tile_m=64,tile_n=128,tile_k=16,threads_m=8,threads_n=32,layout=blocked,vec=4",
    "tile_m=128,tile_n=128,threads_m=16,threads_n=16,layout=strided,vec=4",
    "tile_m=128,tile_n=64,tile_k=16,threads_m=16,threads_n=8,layout=blocked,vec=4,unroll=8",
    "tile_m=16,tile_n=64,tile_k=32,threads_m=4,threads_n=16,layout=blocked,vec=4,unroll=8",
)] + [(os.path.join(HERE, "landscapes", "stencil"), c, {"n": 96}) for c in (
    "block_x=32,block_y=8,tile_z=4,march=true,staged=true",
    "block_x=16,block_y=8,tile_y=2,tile_z=4,march=true,staged=true",
    "block_x=48,block_y=4,tile_y=4,tile_z=8,march=true,staged=true,unroll=4",
    "block_x=96,block_y=2,tile_z=2",
)] + [("aos_soa", c, {"n": 1 << 13, **p}) for c, p in (
    ("algorithm=direct", {"operation": "update", "layout": "aos"}),
    ("algorithm=shared,block=128,pad=0", {"operation": "update", "layout": "aos"}),
    ("algorithm=shared,block=128,pad=1", {"operation": "convert", "layout": "soa", "to": "aos"}),
    ("algorithm=vector,width=2", {"operation": "convert", "layout": "aos", "to": "packed"}),
    ("algorithm=shuffle", {"operation": "convert", "layout": "aos", "to": "soa"}),
)] + [("gather", c, {"n": 1 << 16, "order": o}) for c, o in (
    ("algorithm=direct", "permutation"),
    ("algorithm=direct,vec=4,items=2", "local"),
    ("algorithm=sorted,block=128,items=4", "permutation"),
)] + [("rgb", c, {"n": 1 << 16}) for c in (
    "algorithm=direct",
    "algorithm=words,pixels=8",
    "algorithm=shared,block=64,pixels=8,pad=0",
    "algorithm=shared,block=64,pixels=8,pad=1",
)] + [("loop_order", c, {"rows": 256, "cols": 1024, "axis": a}) for c, a in (
    ("algorithm=thread", "rows"),
    ("algorithm=team,block=128,vec=4,unroll=2", "rows"),
    ("algorithm=tile,block=128,lanes=8,vec=4", "rows"),
    ("algorithm=tile,block=256,lanes=16,vec=4", "columns"),
)] + [("matmul", c, {"m": 256, "n": 256, "k": 64}) for c in (
    "algorithm=naive,tile_m=16,tile_n=16",
    "algorithm=tile,tile_m=64,tile_n=64,tile_k=16,thread_m=4,thread_n=4,vec=4",
    "algorithm=tile,tile_m=128,tile_n=128,tile_k=8,thread_m=8,thread_n=8,lanes_m=4,vec=4,pad=4,"
    "staging=registers,unroll=8,group=8",
)] + [("conv2d", c, {"rows": 256, "cols": 512, "size": s}) for c, s in (
    ("algorithm=direct", 3),
    ("algorithm=window,block_x=64,block_y=8,width=4,height=2,coefficients=immediate", 3),
    ("algorithm=shared,block_x=32,block_y=8,width=4,height=2,coefficients=immediate", 5),
)] + [("stencil1d", c, {"n": 1 << 16, "radius": 3}) for c in (
    "algorithm=direct",
    "algorithm=window,width=4",
    "algorithm=shuffle,width=4",
    "algorithm=shared,width=2,items=2",
)] + [("histogram", c, {"n": 1 << 16, "values": v}) for c, v in (
    ("algorithm=global,copies=1", 256),
    ("algorithm=shared,copies=1", 256),
    ("algorithm=shared,copies=8,vec=16", 1),
)] + [("batched_transpose", c, {"batch": 64, "rows": 64, "cols": 64}) for c in (
    "algorithm=naive",
    "algorithm=tile,tile_x=32,tile_y=32,pad=1",
    "algorithm=registers,tile_x=64,tile_y=64,load_vec=4,store_vec=4,block_rows=16,pad=0,swizzle=xor",
    "algorithm=chunk,tile_x=32,count=1,pad=1",
)] + [("spill", c, {"n": 1 << 16, "rounds": 2}) for c in (
    "live=32,vec=4",
    "live=64,max_registers=32",
    "live=64,index=run_time",
)] + [("textured", f"reads={r}", {"rows": 64, "cols": 96}) for r in ("memory",)
]

# Number of variants of each measured landscape (tests/bench/landscapes.py) that are also compared, on a small problem.
EACH = 8
SAMPLED = {
    "transpose": SMALL, "batched_transpose": {"batch": 16, "rows": 64, "cols": 64}, "strided": {"n": 1 << 16},
    "misaligned": {"n": 1 << 16}, "vector_add": {"n": 3 << 15}, "bank_conflict": {"n": 1 << 14, "passes": 2},
    "dot": {"n": 1 << 16}, "aos_soa": {"n": 1 << 13}, "gather": {"n": 1 << 16}, "rgb": {"n": 1 << 16},
    "loop_order": {"rows": 256, "cols": 1024}, "matmul": {"m": 256, "n": 256, "k": 64},
    "conv2d": {"rows": 256, "cols": 512}, "stencil1d": {"n": 1 << 16}, "histogram": {"n": 1 << 16},
    "spill": {"n": 1 << 16, "rounds": 2}, "product": {"n": 256}, "stencil": {"n": 96},
}
OWN = ("product", "stencil")  # patterns whose script is in the folder landscapes beside this file


def sampled(folder):
    """Returns variants of the landscapes in the folder, evenly from the fastest to the slowest."""
    found = []
    for name, problem in SAMPLED.items():
        with gzip.open(os.path.join(folder, f"{name}.jsonl.gz"), "rt") as f:
            rows = sorted((json.loads(line) for line in list(f)[1:]), key=lambda r: r["time_ns"])
        script = os.path.join(HERE, "landscapes", name) if name in OWN else name
        found += [(script, rows[i * (len(rows) - 1) // (EACH - 1)]["config"], problem) for i in range(EACH)]
    return found


# One variant of each kind of access: by threads, by vectors, strided, misaligned, with conflicts, reduced, in local
# memory.
FEW = [("transpose", c, SMALL) for c in (
    "algorithm=naive,tile_x=32,tile_y=32,block_rows=8,pad=0",
    "algorithm=tile,pad=0",
    "algorithm=registers,tile_x=64,tile_y=64,load_vec=4,store_vec=2,block_rows=32,pad=0,swizzle=xor",
)] + [
    ("strided", "algorithm=direct", {"n": 1 << 16, "stride": 8}),
    ("misaligned", "algorithm=two_loads,words=4", {"n": 1 << 16, "offset": 3}),
    ("vector_add", "width=2", {"n": 3 << 15}),
    ("bank_conflict", "element=8", {"n": 1 << 14, "stride": 16, "passes": 2}),
    ("dot", "algorithm=tree", {"n": 1 << 16}),
    ("spill", "live=64,max_registers=32", {"n": 1 << 16, "rounds": 4}),
]


def simulate(autotune, script, config, problem):
    command = [autotune, "explain", script + ".lua", "--json", "--config", config]
    for name, value in problem.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["not proven"])[0]
    return json.loads(done.stdout), None


def read_counters(autotune, script, config, problem):
    """Returns (counters of the first launch, error) of `autotune profile`."""
    command = [autotune, "profile", script + ".lua", "--json", "--device", "cuda:0", "--config", config,
               "--metrics", ",".join(GLOBAL + SHARED + MORE)]
    for name, value in problem.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout)["launches"][0], None


def number(text):
    """Reads a value of ncu, which is "n/a" if the kernel has no such instructions."""
    return 0 if text == "n/a" else int(float(text.replace(",", "")))


def profile(ncu, runner, subjects, metrics, caches="none"):
    """Returns counters of each of `subjects`, (script, configuration, problem, entry), launched in order. `caches` is
    ncu's --cache-control: "none" leaves the caches alone, "all" empties them first."""
    command = [ncu, "--csv", "--metrics", ",".join(metrics), "--print-units", "base",
               "--target-processes", "application-only",
               "--kernel-name", "regex:^(" + "|".join(sorted({s[3] for s in subjects})) + ")$",
               "--cache-control", caches, "--clock-control", "none", runner]
    for i, (script, config, problem, _) in enumerate(subjects):
        command += ["--"] * (i > 0) + [script + ".lua", config] + [f"{n}={v}" for n, v in problem.items()]
    done = subprocess.run(command, capture_output=True, text=True)
    launches = {}
    for row in csv.DictReader(io.StringIO("\n".join(
            l for l in done.stdout.splitlines() if l.startswith('"')))):
        if row.get("Metric Name") in metrics:
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = number(row["Metric Value"])
    if len(launches) != len(subjects):
        sys.exit(f"{len(launches)} launches watched, not {len(subjects)}: "
                 + (done.stdout + done.stderr).strip()[-2000:])
    return [launches[i] for i in sorted(launches)]


def take_off_arbitration(measured):
    """Returns the cycles that loads and stores waited for busy banks, and subtracts them from the conflicts in
    `measured`."""
    turns = []
    for conflicts, passed, asked in zip(SHARED, WAVEFRONTS, BY_INSTRUCTION):
        turns.append(measured[passed] - measured[asked])
        measured[conflicts] -= turns[-1]
    return turns


def compare(simulated, measured, metrics, profiled):
    """Returns (whether all counters are within bounds, cells)."""
    good, cells = True, []
    for name in metrics:
        a, b = simulated.get(name, 0), measured.get(name, 0)
        fine = (abs(a - b) <= 0.01 * b if profiled else
                a == b if name in GLOBAL else abs(a - b) <= 0.02 * max(b, 50))
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
    arguments.add_argument("--profile", action="store_true",
                           help="compare what `autotune profile` reads, not what the simulator counts")
    arguments.add_argument("--all", action="store_true", help="with --profile all variants, not one of each kind")
    arguments.add_argument("--landscapes", metavar="FOLDER", help="besides, variants of the landscapes in it")
    arguments.add_argument("--variant", nargs=3, action="append", metavar=("SCRIPT", "CONFIG", "NAME=VALUE,..."),
                           help="compare this one instead; repeatable")
    a = arguments.parse_args()
    variants = ([(script, config, dict(v.split("=") for v in problem.split(",")))
                 for script, config, problem in a.variant] if a.variant else
                FEW if a.profile and not a.all else VARIANTS)
    # Some of these break a constraint for the small problem, which is no error of the counters.
    more = [v for v in sampled(a.landscapes) if v not in variants] if a.landscapes else []
    variants = variants + more
    metrics = GLOBAL + SHARED + (MORE if a.profile else [])
    autotune = os.path.join(a.build, "bin", "autotune")
    runner = os.path.join(a.build, "tests", "run_variant")
    os.environ.setdefault("AUTOTUNE_SHARE", os.path.join(a.build, "share", "autotune"))
    if not a.simulate_only and not os.path.exists(a.ncu):
        print("there is no ncu", file=sys.stderr)
        return 77
    head = ["pattern", "configuration", "problem", "ld requests", "ld sectors", "st requests",
            "st sectors", "ld conflicts", "st conflicts"]
    if not a.profile:
        head += ["ld arbitration", "st arbitration"]
    else:
        head += ["ld wavefronts", "st wavefronts", "local ld sectors", "local st sectors", "instructions"]
    subjects, counted, rows, bad = [], [], [], 0
    # Simulations run in parallel. Profiles run one at a time, because they share the GPU.
    with concurrent.futures.ThreadPoolExecutor(1 if a.profile else os.cpu_count()) as pool:
        counts = list(pool.map(lambda v: (read_counters if a.profile else simulate)(autotune, *v), variants))
    for (script, config, problem), (simulated, why) in zip(variants, counts):
        if simulated is None and (script, config, problem) in more:
            continue
        if simulated is None:
            print(f"{script} {config}: {why}", file=sys.stderr)
            bad += 1
            continue
        subjects.append((script, config, problem, simulated["entry"]))
        counted.append(simulated["counters" if a.profile else "metrics"])
    compared = len(subjects)
    measured = [] if a.simulate_only else profile(
        a.ncu, runner, subjects, metrics if a.profile else metrics + WAVEFRONTS + BY_INSTRUCTION)
    for (script, config, problem, _), simulated, found in zip(subjects, counted, measured):
        turns = [] if a.profile else take_off_arbitration(found)
        good, cells = compare(simulated, found, metrics, a.profile)
        bad += not good
        rows.append([os.path.basename(script), config,
                     " ".join(f"{n}={v}" for n, v in problem.items())] + cells + [str(t) for t in turns])
    text = "\n".join(["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head)] + rows])
    summary = (f"{compared} variants simulated, {bad} failed" if a.simulate_only else
               f"{compared} variants compared, {bad} failed; "
               f"{'profile / ncu' if a.profile else 'simulated / measured'} where they differ")
    if rows:
        print(text + "\n")
    print(summary)
    if a.output:
        with open(a.output, "w") as f:
            f.write(text + "\n\n" + summary + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
