#!/usr/bin/env python3
"""Compares bank conflicts of shared memory between the hardware and the simulator, for many shapes of access.

    shared_shapes.py BUILD_DIR [--ncu PATH] [--output TABLE.csv] [--simulate-only]

A shape is the 32 addresses that a warp's lanes read or write. Each shape has a kernel; all are in one source
(tests/bench/shared_shapes.cu), which is compiled first, and run in one process (run_kernels), so that one `ncu`
measures all. Wavefronts and bank conflicts are counted. TABLE.csv gets the hardware's counts with the shapes, for
tests/unit/sim/machine/test_shared_shapes.c. Exit code 1 if the simulator's conflicts differ by more than 2 %, 77 if
there is no ncu or no GPU.
"""
import argparse
import concurrent.futures
import csv
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LANES = range(32)
BYTES = 32768
KINDS = {"load": "ld", "store": "st", "atomic": "atom"}
COUNTS = ["requests", "wavefronts", "conflicts"]
METRICS = {("wavefronts", k): f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{v}" for k, v in KINDS.items()}
METRICS |= {("conflicts", k): f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{v}"
            for k, v in KINDS.items()}
METRICS |= {("requests", k): f"smsp__inst_executed_op_shared_{v}" for k, v in KINDS.items()}


def reversed_bits(l):
    return int(f"{l:05b}"[::-1], 2)


def lane_patterns():
    """Returns name -> the element of each lane (None if the lane does nothing), for any width."""
    out = {}
    for stride in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 33):
        out[f"stride_{stride}"] = [l * stride for l in LANES]
    for size in (2, 4, 8, 16, 32):
        out[f"same_in_{size}"] = [l // size for l in LANES]
        out[f"modulo_{size}"] = [l % size for l in LANES]
    for size in (2, 4, 8, 16):
        out[f"same_in_{size}_rows_of_32"] = [l // size * 32 for l in LANES]
        out[f"same_in_{size}_rows_of_8"] = [l // size * 8 for l in LANES]
        out[f"same_in_{size}_rows_of_9"] = [l // size * 9 for l in LANES]
        out[f"modulo_{size}_stride_8"] = [l % size * 8 for l in LANES]
        out[f"block_{size}_rows_of_32"] = [l // size * 32 + l % size for l in LANES]
        out[f"block_{size}_rows_of_33"] = [l // size * 33 + l % size for l in LANES]
    for size in (4, 8, 16):
        out[f"swizzle_rows_of_{size}"] = [l * size + (l % size) for l in LANES]
        out[f"swizzle_by_row_{size}"] = [l // size * size + (l % size ^ l // size % size) for l in LANES]
        out[f"swizzle_columns_{size}"] = [l % size * size + (l // size ^ l % size) for l in LANES]
    out["reversed"] = [31 - l for l in LANES]
    out["bits_reversed"] = [reversed_bits(l) for l in LANES]
    out["xor_1"] = [l ^ 1 for l in LANES]
    out["xor_17"] = [l ^ 17 for l in LANES]
    out["rotated_by_3"] = [(l + 3) % 32 for l in LANES]
    out["from_1"] = [l + 1 for l in LANES]
    # Each quarter of a warp has a pattern: linear, broadcast, two words of one bank, or far apart.
    linear, one = [i for i in range(8)], [0] * 8
    pairs, clash = [i // 2 for i in range(8)], [0, 64, 1, 2, 3, 4, 5, 6]
    column, halves = [i * 32 for i in range(8)], [i % 4 for i in range(8)]
    kinds = {"linear": linear, "one": one, "pairs": pairs, "clash": clash, "column": column,
             "halves": halves}
    for names in (("linear", "one", "linear", "one"), ("linear", "linear", "one", "one"),
                  ("one", "linear", "linear", "linear"), ("one", "one", "one", "linear"),
                  ("pairs", "linear", "pairs", "linear"), ("pairs", "pairs", "linear", "linear"),
                  ("clash", "linear", "linear", "linear"), ("linear", "clash", "linear", "linear"),
                  ("clash", "one", "clash", "one"), ("clash", "clash", "clash", "clash"),
                  ("pairs", "pairs", "pairs", "clash"), ("column", "one", "one", "one"),
                  ("column", "linear", "column", "linear"), ("halves", "halves", "pairs", "pairs"),
                  ("halves", "linear", "one", "pairs"), ("column", "column", "linear", "one")):
        for apart in (8, 64):
            out["quarters_" + "_".join(names) + f"_{apart}"] = [
                kinds[names[l // 8]][l % 8] + l // 8 * apart for l in LANES]
    # Reads of a matrix product. Lanes of a row share elements of a, and lanes of a column elements of b.
    for wide in (4, 8, 16):
        out[f"product_a_{wide}"] = [l // wide for l in LANES]
        out[f"product_a_{wide}_rows"] = [l // wide * 2 for l in LANES]
        out[f"product_b_{wide}"] = [l % wide * 2 for l in LANES]
        out[f"product_store_{wide}"] = [l % wide * 32 + l // wide for l in LANES]
    # Reads of a stencil's tile: rows with a halo.
    for wide in (4, 8, 16):
        for row in (wide + 1, wide + 2, 2 * wide):
            out[f"stencil_{wide}_rows_of_{row}"] = [l // wide * row + l % wide for l in LANES]
    return out


def masks():
    out = {"even": 0x55555555, "odd": 0xaaaaaaaa, "low_half": 0xffff, "high_half": 0xffff0000,
           "quarter_0": 0xff, "quarter_2": 0xff0000, "quarters_0_2": 0x00ff00ff,
           "quarters_0_3": 0xff0000ff, "one": 1, "lane_31": 1 << 31, "ends": 0x80000001,
           "every_4th": 0x11111111, "first_5": 0x1f, "all_but_one": 0xfffffffe,
           "fours": 0x0f0f0f0f, "pairs": 0x33333333}
    return out


def shapes():
    """Returns [(name, kind, bytes, offsets)]; an offset is None if the lane does nothing."""
    out = []
    patterns = lane_patterns()
    for width in (4, 8, 16):
        def add(kind, name, elements):
            offsets = [None if e is None else e * width % BYTES for e in elements]
            out.append((f"{kind}_{width}_{name}", kind, width, offsets))
        for number, (name, elements) in enumerate(patterns.items()):
            # The shapes of quarters would fill half of the table, so only wide loads have all of them.
            if width > 4 or not name.startswith("quarters") or name.endswith("_8"):
                if width == 16 or number % (5 - width // 4 * 2) == 0:
                    add("load", name, elements)
            if number % (12 - width // 2) == 0:
                add("store", name, elements)
        for number, (name, mask) in enumerate(masks().items()):
            for pattern in (("stride_1", "quarters_clash_one_clash_one_8"),
                            ("stride_4", "same_in_2"))[number % 2]:
                if width == 4 and pattern != "stride_4":
                    continue
                add("load", f"{pattern}_mask_{name}",
                    [e if mask >> l & 1 else None for l, e in enumerate(patterns[pattern])])
            if width > 4 and number % 3 == 0:
                add("store", f"stride_2_mask_{name}",
                    [e if mask >> l & 1 else None for l, e in enumerate(patterns["stride_2"])])
        for round in range({4: 4, 8: 16, 16: 24}[width]):
            draw = random.Random(1000 * width + round)
            words = draw.choice((4, 8, 16, 64, 512))
            share = draw.choice((1, 1, 0.7, 0.3))
            elements = [draw.randrange(words) if draw.random() < share else None for _ in LANES]
            elements[draw.randrange(32)] = 0
            add("load", f"random_{round}", elements)
            if round % 3 == 0:
                add("store", f"random_{round}", elements)
        if width < 16:
            for name in ("stride_1", "stride_2", "stride_8", "stride_32", "same_in_2", "same_in_8",
                         "same_in_32", "modulo_4", "modulo_16", "block_4_rows_of_32", "reversed"):
                add("atomic", name, patterns[name])
            for name in ("even", "quarter_0", "one", "first_5"):
                add("atomic", f"same_in_32_mask_{name}",
                    [0 if masks()[name] >> l & 1 else None for l in LANES])
                add("atomic", f"stride_8_mask_{name}",
                    [l * 8 if masks()[name] >> l & 1 else None for l in LANES])
    return out


def write_source(path, all_shapes):
    """Returns the kernels' names: those of single shapes, then those of mixed accesses."""
    with open(os.path.join(HERE, "shared_shapes.cu")) as f:
        fixed = f.read()
    rows = ["{" + ", ".join("INACTIVE" if o is None else str(o) for o in s[3]) + "}" for s in all_shapes]
    with open(path, "w") as f:
        f.write(fixed)
        f.write("\n__device__ const unsigned short shapes[][32] = {\n" + ",\n".join(rows) + "};\n")
        for i, (name, kind, width, _) in enumerate(all_shapes):
            f.write(f'extern "C" __global__ void {name}(unsigned *out) '
                    f"{{ SHAPE_{kind.upper()}_{width}(shapes[{i}]) }}\n")
    return [s[0] for s in all_shapes] + re.findall(r"void (mix_\w+)\(", fixed)


def simulate(runner, source, names, arch):
    """Returns {(kernel, kind): {count: number}}."""
    done = subprocess.run([runner, "sim:" + arch, source] + names, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    out = {}
    for line in done.stdout.splitlines():
        name, *numbers = line.split()
        for i, kind in enumerate(KINDS):
            out[name, kind] = dict(zip(COUNTS, map(int, numbers[3 * i:3 * i + 3])))
    return out


def known_metrics(ncu):
    """Returns the METRICS that this ncu knows for the GPU's chip, or all if it cannot tell."""
    done = subprocess.run([ncu, "--query-metrics"], capture_output=True, text=True)
    known = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    found = {k: m for k, m in METRICS.items() if m in known}
    return found or METRICS


def profile(ncu, runner, source, names, arch, log):
    """Like simulate(); None if there is no GPU."""
    cubin = source + "bin"
    done = subprocess.run([runner, "compile:" + arch, source, cubin, names[0]], capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    metrics = known_metrics(ncu)
    by_name = {m + ".sum": k for k, m in metrics.items()}
    command = [ncu, "--csv", "--metrics", ",".join(by_name), "--target-processes",
               "application-only", "--cache-control", "none",
               "--clock-control", "none", runner, "cuda:0", cubin] + names
    done = subprocess.run(command, capture_output=True, text=True)
    if log:
        with open(log, "w") as f:
            f.write(done.stdout + done.stderr)
    if done.returncode == 77:
        return None
    out = {}
    lines = [l for l in done.stdout.splitlines() if l.startswith('"')]
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        name, key = row["Kernel Name"].split("(")[0], by_name.get(row.get("Metric Name"))
        if key:
            number = int(float(row["Metric Value"].replace(",", "")))
            out.setdefault((name, key[1]), {})[key[0]] = number
    if not out:
        raise SystemExit((done.stdout + done.stderr).strip()[-2000:])
    return out


def write_table(path, all_shapes, names, measured):
    places = {s[0]: s for s in all_shapes}
    with open(path, "w") as f:
        f.write("# Accesses of one warp to shared memory as the hardware counted them; offsets are bytes,\n"
                "# - a lane that stays away; mix_* are kernels of tests/bench/shared_shapes.cu.\n"
                "# Made by: tests/bench/shared_shapes.py build/portable --output shared_shapes.csv\n"
                "name,kind,bytes,requests,wavefronts,conflicts,offsets\n")
        for name in names:
            for kind in KINDS:
                shape, counts = places.get(name), measured.get((name, kind))
                if not counts or (shape and shape[1] != kind):
                    continue
                numbers = ",".join(str(counts.get(c, "")) for c in COUNTS)
                offsets = " ".join("-" if o is None else str(o) for o in shape[3]) if shape else ""
                f.write(f"{name},{kind},{shape[2] if shape else ''},{numbers},{offsets}\n")


def compare(all_shapes, names, simulated, measured):
    """Prints the differences; returns the numbers of compared shapes and of wrong conflicts."""
    places = {s[0]: s for s in all_shapes}
    compared = bad = 0
    for name in names:
        for kind in KINDS:
            if name in places and places[name][1] != kind:
                continue
            a, b = simulated.get((name, kind), {}), measured.get((name, kind), {})
            if "conflicts" not in b:
                continue
            compared += 1
            off = abs(a["conflicts"] - b["conflicts"]) > 0.02 * b["conflicts"]
            bad += off
            for count in COUNTS:
                if count in b and a[count] != b[count]:
                    print(f"{name} {kind} {count}: simulated {a[count]}, measured {b[count]}")
    return compared, bad


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("--ncu", default=shutil.which("ncu") or "/usr/local/cuda/bin/ncu")
    arguments.add_argument("--arch", default="sm_90")
    arguments.add_argument("--output")
    arguments.add_argument("--log", help="what ncu printed goes there")
    arguments.add_argument("--every", type=int, default=1, help="one of so many shapes (default 1)")
    arguments.add_argument("--simulate-only", action="store_true",
                           help="only check that every kernel can be simulated")
    a = arguments.parse_args()
    runner = os.path.join(a.build, "tests", "run_kernels")
    if not a.simulate_only and not os.path.exists(a.ncu):
        print("there is no ncu", file=sys.stderr)
        return 77
    all_shapes = shapes()[::a.every]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "shapes.cu")
        names = write_source(source, all_shapes)
        with concurrent.futures.ThreadPoolExecutor() as both:
            simulation = both.submit(simulate, runner, source, names, a.arch)
            if not a.simulate_only:
                measured = profile(a.ncu, runner, source, names, a.arch, a.log)
            simulated = simulation.result()
    if a.simulate_only:
        print(f"{len(names)} kernels simulated")
        return 0
    if measured is None:
        print("there is no GPU", file=sys.stderr)
        return 77
    if a.output:
        write_table(a.output, all_shapes, names, measured)
    compared, bad = compare(all_shapes, names, simulated, measured)
    print(f"{len(names)} kernels, {compared} counts of conflicts compared, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
