#!/usr/bin/env python3
"""Runs the benchmarks of this folder, and lists figures that are older than the code that they measure.

  tests/bench/benchmarks.py run BUILD [NAME...]      runs on the GPU; rewrites the rows of results/FIGURES.md
  tests/bench/benchmarks.py stale                    lists rows that are older than the measured code (needs git)
  tests/bench/benchmarks.py quoted                   lists stale rows that the README quotes (`NAME`, [GPU] in its
  Figures)
  tests/bench/benchmarks.py smoke BUILD [NAME...]    runs each in a small form without a GPU, to its end
  tests/bench/benchmarks.py list                     lists names and commands

A row is one figure on one GPU, with its commit and command. --commit HASH names the commit if there is no
repository, --log FOLDER keeps the output of each benchmark, --figures FILE is another table.
"""
import argparse
import dataclasses
import datetime
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FIGURES = os.path.join(ROOT, "results", "FIGURES.md")
SKIPPED = 77
ENGINE = ("tuner/run", "tuner/bench", "tuner/cuda", "search", "templates/device_support.cu")


@dataclasses.dataclass
class Benchmark:
    """In both commands, {build}, {root}, {bench}, {work} (an empty folder) and {tool} are replaced."""
    name: str
    smoke: str                    # command without a GPU; empty if CTest has a test for it
    smoke_codes: tuple = (0,)     # good exit codes; also 1 if a small run cannot reach its target
    command: str = ""             # command on a GPU; empty for a benchmark that is run by hand or needs no GPU
    title: str = ""
    figures: str = ""             # regular expression; the groups of each match in the output make a row
    measures: tuple = ENGINE      # a change of these paths makes the figure stale
    files: tuple = ()             # other files of this folder that it uses, besides NAME.*
    environment: dict = dataclasses.field(default_factory=dict)


TIMED = "{work}/small.lua"
BENCHMARKS = [
    Benchmark("transpose", "{bench}/transpose.sh {build} {root}/results", (0,),
              "{bench}/transpose.sh {build} {root}/results", "transpose beside cuBLAS and the copy of its bytes",
              r"(\d+ x \d+) floats|(autotune / \w+: +[\d.]+)", ("lua/transpose.lua", "templates/transpose.cu.tmpl"),
              files=("transpose_vs_cublas.c",),
              environment={"FAKE_CUDA_ANY": "1", "AUTOTUNE_LIBCUBLAS": "{build}/tests/fake_cublas.so",
                           "BENCH_SIZES": "64", "BENCH_OPTIONS": "--samples 6 --config "
                           "algorithm=naive,tile_x=32,tile_y=32,load_vec=1,store_vec=1,block_rows=8,pad=0,swizzle=none,"
                           "tiles=1,stages=1,order=linear,group=1,load_hint=none,store_hint=none"}),
    Benchmark("race_gpu", "{bench}/race_gpu.sh {build} 1 cuda:0 --set n=16384", (0,),
              "{bench}/race_gpu.sh {build}", "a kernel and itself, and one that is 2 % slower, raced",
              r"^(same kernel|2 % apart): (\d+ of \d+ runs)", files=("same_kernel.*", "two_percent.*", "copy_ref.*")),
    Benchmark("compare_gpu", "", (), "{bench}/compare_gpu.sh {build}", "`compare --race` of a kernel and itself, and 1 % slower",
              r"^\| (itself.*?) \| (\d+) \|"),
    Benchmark("ten_winners", f"{{bench}}/ten_winners.sh -b {{build}} -n 2 -s {TIMED} {{work}}/runs", (0,),
              "{bench}/ten_winners.sh -b {build} {work}/runs", "winners of ten full runs of transpose, raced",
              r"(\d+ winners, the last [\d.]+ % behind the best)", files=("winners.bash",)),
    Benchmark("race_vs_fixed", f"{{bench}}/race_vs_fixed.sh -b {{build}} -s {TIMED} {{work}}/runs", (0, 1),
              "{bench}/race_vs_fixed.sh -b {build} {work}/runs", "time that racing saves over 50 samples a variant",
              r"([\d.]+ times as fast)|(the last [\d.]+ % behind)"),
    Benchmark("quick", "sh -c 'cd {work} && {tool} small.lua --quiet --results {work}/records && "
              "{bench}/quick.py {tool} {work}/records --patterns {work}/small'", (0, 1),
              "{bench}/quick.py {tool} {root}/results", "quick runs that know nothing: seconds, and behind the record",
              r"^(\S+) +([\d.]+ s) .*tried  (.*)", ENGINE + ("lua", "templates")),
    Benchmark("cold_run", "{tool} {work}/small.lua --no-record --quiet", (0,),
              "env XDG_CACHE_HOME={work} {tool} transpose.lua --no-record --quiet", "a whole run of transpose, caches empty",
              r"^variants +(\d[\d,]* tried)|^time +([\d.]+ m?i?n?s?)", ENGINE + ("lua/transpose.lua", "tuner/compile")),
    Benchmark("verify", "", (), "{tool} verify --results {root}/results --quiet", "do the recorded winners hold?",
              r"^(\d+ .*hold.*)$", ("results", "lua", "templates")),
    Benchmark("compile_rate", "{build}/tests/compile_rate --jobs 2 --sources 4", (0, 1),
              "{build}/tests/compile_rate --jobs 16 --sources 600", "compile pool beside independent NVRTC processes",
              r"^ratio ([\d.]+)", ("tuner/compile",)),
    Benchmark("exported_vs_library", "{build}/tests/exported_vs_library", (SKIPPED,),
              "{build}/tests/exported_vs_library", "exported kernels beside the library's",
              r"^(\S.*?)  .*|ratio ([\d.]+)", ("tuner/export", "templates")),
    Benchmark("portfolio", "{bench}/portfolio.sh {build} {work}/portfolio --patterns {work}/small.lua:n=1024..4096 --shapes 2 "
              "--variants 4 --no-runtime --no-bars --making=--problems,4,--held-out,0,--budget,16", (0,),
              "", files=("portfolio.py",)),
    Benchmark("portfolio_choices", ""), Benchmark("portfolio_sets", "", files=("portfolio_data.*",)),
    Benchmark("whole_problems", "python3 {bench}/whole_problems.py {tool} {work}/times.json --device sim --pattern dot "
              "--problems 1 --samples 2 --part algorithm=tree:block=256:items=1:vec=4:schedule=one_shot"),
    Benchmark("race_synthetic", ""),
    Benchmark("landscape", "sh -c 'cd {work} && {bench}/landscapes.py measure {build} . small && "
              "{bench}/landscapes.py count {build} small.jsonl.gz && {bench}/predicted.py {build} small.jsonl.gz'", (0,),
              files=("landscapes.py", "predicted.py", "microbenchmarks.cu*", "mechanisms.cu")),
    Benchmark("pick_cost", "{build}/tests/pick_cost {root}/results vector_add 300", (0,),
              "{build}/tests/pick_cost {root}/results transpose 1000", "reading 1,000 entries of one pattern, and picking",
              r"^(open|first pick|later pick) ([\d.]+ .s)", ("tuner/library", "tuner/record", "tuner/script"),
              environment={"AUTOTUNE_SHARE": "{build}/share/autotune"}),
    Benchmark("sim_rate", "{build}/tests/sim_rate"),
    Benchmark("counters_vs_ncu", "python3 {bench}/counters_vs_ncu.py {build} --simulate-only --variant vector_add width=4 n=4096", (0,),
              "python3 {bench}/counters_vs_ncu.py {build}", "counters of the simulated device beside Nsight Compute's",
              r"(\d+ variants compared, \d+ failed)", ("tuner/sim",), files=("run_variant.c",)),
    Benchmark("dram_vs_traffic", "python3 {bench}/dram_vs_traffic.py {build} --ncu /nowhere/ncu", (SKIPPED,)),
    Benchmark("shared_shapes", "python3 {bench}/shared_shapes.py {build} --simulate-only --every 16", (0,),
              files=("shared_shapes.cu", "run_kernels.c")),
    Benchmark("peers", "{bench}/peers.sh {build} {root}/results vector_add", (1,), "{bench}/peers.sh {build} {root}/results",
              "every pattern beside other libraries", r"^(\S+) .* (yes|no)$", ("lua", "templates"),
              files=("peers.bash", "peers"), environment={"PEERS_ARCH": "sm_90"}),
    Benchmark("bounds", "{bench}/bounds.sh {build} {root}/results baseline", (1,), environment={"PEERS_ARCH": "sm_90"}),
    Benchmark("landscapes", "sh -c 'cd {work} && {bench}/landscapes.sh {build} {work}/whole small'", (0,),
              files=("landscapes",)),
    Benchmark("enumeration", "{bench}/enumeration.sh {tool} dedispersion", (0,), files=("enumeration.py", "spaces"),
              environment={"AUTOTUNE_BENCH_PYTHON": "{work}"}),
    Benchmark("replay", "{bench}/replay.sh {tool} {root}/results/nvidia-h200/landscapes/dot.json.gz /dev/null 2 none", (0,),
              files=("replay.py", "replay_kernel_tuner.py"), environment={"AUTOTUNE_BENCH_PYTHON": "{work}"}),
    Benchmark("scores", "python3 {bench}/scores.py {tool} random 2 1 {root}/results/nvidia-h200/landscapes/dot.json.gz"),
    Benchmark("slow_ends", "{bench}/slow_ends.py {build} --seeds 1 {root}/results/nvidia-h200/landscapes/counted/histogram.jsonl.gz",
              measures=("search", "tuner/run/variant", "tuner/bench/bench.c")),
    Benchmark("slices", "python3 {bench}/slices.py {work}/slices {root}/results/nvidia-h200/landscapes/dot.json.gz"),
    Benchmark("synthetic_spaces", "python3 {bench}/synthetic_spaces.py {work}/spaces 1"),
    Benchmark("same_sources", "{bench}/same_sources.sh {tool} {tool} 2 vector_add"),
    Benchmark("soak", "", measures=("tuner", "tests/soak")), # CI has a short run in tests/soak
    Benchmark("instructions", "", measures=("tuner/sim", "tests/instructions")), # tests/instructions is the test; on a GPU, tests/gpu
    # unit.library.site_tuner is the test without a GPU. On a GPU, sites.sh is run by hand.
    Benchmark("sites", "", measures=("tuner/library", "search/race"), files=("sites.*",)),
    Benchmark("context", "{tool} {bench}/context/windowed.lua --device sim --set n=4096 --budget 2 --no-record --quiet", (0,),
              "python3 {bench}/context/pipeline.py {build} 48", "a pipeline of three kernels, tuned alone and in context",
              r"run of the pipeline: .* ([\d.]+ to [\d.]+) of it", ENGINE + ("tests/bench/context",)),
    # unit.library.tuning is the test without a GPU. On a GPU, tune_beside.py is run by hand.
    Benchmark("tune_beside", "", measures=("tuner/library", "tuner/bench/turn.c")),
    Benchmark("heavy_headers", "env HEAVY_VARIANTS=2 {bench}/heavy_headers.sh {build} block_reduce"),
    Benchmark("transpose_132", "{tool} space {bench}/transpose_132.lua", files=("transpose_132.*",)),
]


def filled(text, build, work):
    return text.format(build=build, root=ROOT, bench=HERE, work=work, tool=os.path.join(build, "bin", "autotune"))


def small_script(work):
    """Writes a space of 21 kernels whose names state their times, for the fake driver."""
    faults = os.path.join(ROOT, "tests", "faults")
    for name in "timed.cu.tmpl", "timed_ref.cu.tmpl":
        shutil.copy(os.path.join(faults, name), work)
    text = open(os.path.join(faults, "timed.lua")).read()
    text = re.sub(r"  space = .*", "  space = { a = at.range(10, 12), b = at.range(3, 9) },\n  where = {\n    \"a > 0\",\n  },", text)
    text = re.sub(r"  baseline = .*", "  baseline = { a = 10, b = 4 },", text).replace('name = "timed"', 'name = "small"')
    with open(os.path.join(work, "small.lua"), "w") as to:
        to.write(text)


def smoke_one(benchmark, build):
    """Runs the benchmark. Returns an error message or None."""
    with tempfile.TemporaryDirectory() as work:
        small_script(work)
        os.makedirs(os.path.join(work, "bin"))
        os.symlink(sys.executable, os.path.join(work, "bin", "python"))
        environment = dict(os.environ, AUTOTUNE_LIBCUDA=os.path.join(build, "tests", "fake_cuda.so"), AUTOTUNE_LIBNVML="none",
                           AUTOTUNE_TURNS=work, XDG_STATE_HOME=work + "/state",
                           XDG_CACHE_HOME=os.environ.get("AUTOTUNE_TEST_CACHE", work + "/cache"),
                           AUTOTUNE_SHARE=os.path.join(build, "share", "autotune"))
        environment.update({name: filled(value, build, work) for name, value in benchmark.environment.items()})
        ran = subprocess.run(shlex.split(filled(benchmark.smoke, build, work)), env=environment, cwd=work,
                             capture_output=True, text=True)
        said = (ran.stdout + ran.stderr).strip()
        if ran.returncode not in benchmark.smoke_codes:
            return f"exit {ran.returncode}, not {benchmark.smoke_codes}:\n{said[-2000:]}"
    return None


def unlisted():
    """Returns files of this folder that no benchmark uses, so that nothing would notice if they stopped working."""
    import fnmatch
    patterns = ["benchmarks.py", "CMakeLists.txt", "__pycache__"] + [f for b in BENCHMARKS for f in (b.name, b.name + ".*", *b.files)]
    return [f for f in sorted(os.listdir(HERE)) if not any(fnmatch.fnmatch(f, p) for p in patterns)]


def smoke(args):
    failed = 0
    for b in chosen(args.names, lambda b: b.smoke):
        wrong = smoke_one(b, args.build)
        print(f"{'FAIL' if wrong else 'ok  '} {b.name}{': ' + wrong if wrong else ''}", flush=True)
        failed += bool(wrong)
    return failed > 0


def chosen(names, offered):
    unknown = set(names) - {b.name for b in BENCHMARKS}
    if unknown:
        sys.exit(f"there is no benchmark {' '.join(sorted(unknown))}; 'list' names all")
    return [b for b in BENCHMARKS if offered(b) and (not names or b.name in names)]


def figure_of(benchmark, said):
    found = [" ".join(g for g in m.groups() if g) for m in re.finditer(benchmark.figures, said, re.M)]
    return re.sub(r"\s+", " ", "; ".join(f for f in found if f)).replace("|", "/")


HEADER = """# Figures

One row a figure and GPU. Those of benchmarks are written by `tests/bench/benchmarks.py run BUILD`; `benchmarks.py stale` names those that are older
than the code that they measure.

| benchmark | what | figure | GPU | commit | date | command |
|---|---|---|---|---|---|---|
"""


def read_rows(path):
    if not os.path.exists(path):
        return {}
    rows = [line.strip().strip("|").split(" | ") for line in open(path) if line.startswith("| ")][1:]
    return {(r[0].strip(), r[1].strip(), r[3].strip()): [c.strip() for c in r] for r in rows}


def write_rows(path, rows):
    with open(path + ".part", "w") as to:
        to.write(HEADER)
        for key in sorted(rows):
            to.write("| " + " | ".join(rows[key]) + " |\n")
    os.replace(path + ".part", path)


def run(args):
    commit = args.commit or subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True,
                                           text=True).stdout.strip()
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    if gpu.returncode or not commit:
        sys.exit("there is no GPU here (nvidia-smi)" if commit else "there is no repository here: --commit HASH")
    rows, failed = read_rows(args.figures), 0
    for b in chosen(args.names, lambda b: b.command):
        with tempfile.TemporaryDirectory() as work:
            command = filled(b.command, args.build, work)
            ran = subprocess.run(shlex.split(command), capture_output=True, text=True,
                                 env=dict(os.environ, XDG_STATE_HOME=work + "/state"))
        said = ran.stdout + ran.stderr
        if args.log:
            os.makedirs(args.log, exist_ok=True)
            open(os.path.join(args.log, b.name + ".txt"), "w").write(said)
        figure = figure_of(b, said)
        print(f"{'ok  ' if ran.returncode == 0 else 'exit ' + str(ran.returncode)} {b.name}: {figure}", flush=True)
        failed += ran.returncode != 0
        if figure:
            shown = b.command.format(build="BUILD", root=".", bench="tests/bench", work="DIR", tool="autotune")
            name = gpu.stdout.splitlines()[0].strip()
            rows[b.name, b.title, name] = [b.name, b.title, figure, name, commit, datetime.date.today().isoformat(), f"`{shown}`"]
            write_rows(args.figures, rows)
    print_stale(rows)
    return failed > 0


def print_stale(rows):
    for (name, _, gpu), row in sorted(rows.items()):
        known = [b for b in BENCHMARKS if b.name == name]
        if not known:
            print(f"old: {name} on {gpu}: there is no such benchmark")
            continue
        log = subprocess.run(["git", "-C", ROOT, "rev-list", "--count", f"{row[4]}..HEAD", "--", *known[0].measures],
                             capture_output=True, text=True)
        if log.returncode:
            print(f"unknown: {name} on {gpu}: its commit {row[4]} is not in this repository")
        elif int(log.stdout):
            print(f"old: {name} on {gpu}: {log.stdout.strip()} commits have changed {' '.join(known[0].measures)} since {row[4]}")


def quoted(rows):
    """Returns the rows that the README quotes: lines of its figures name the benchmark, and the GPU as a link."""
    text = open(os.path.join(ROOT, "README.md")).read()
    section = re.search(r"^## Figures$(.*?)^## ", text, re.S | re.M)
    found = {}
    for item in re.split(r"^- ", section.group(1) if section else "", flags=re.M):
        for name in re.findall(r"`(\w+)`", item):
            known = {key: row for key, row in rows.items() if key[0] == name and
                     any(gpu in key[2] for gpu in re.findall(r"\[(\w+)\]\(", item))}
            if not known:
                sys.exit(f"README.md: no row of results/FIGURES.md is {name} on the GPU that is named")
            found.update(known)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "stale", "quoted", "smoke", "list"))
    parser.add_argument("build", nargs="?", type=os.path.abspath, default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--commit", default="")
    parser.add_argument("--log", default="")
    parser.add_argument("--figures", default=FIGURES)
    args = parser.parse_args()
    if args.action == "run":
        return run(args)
    if args.action == "smoke":
        return smoke(args)
    if args.action == "quoted":
        print_stale(quoted(read_rows(args.figures)))
        return 0
    if args.action == "stale":
        print_stale(read_rows(args.figures))
        return 0
    for b in BENCHMARKS:
        print(f"{b.name:20} {b.command or b.smoke or '(a test of its own)'}")
    left = unlisted()
    if left:
        print("not among the benchmarks: " + " ".join(left), file=sys.stderr)
    return len(left) > 0


if __name__ == "__main__":
    sys.exit(main())
