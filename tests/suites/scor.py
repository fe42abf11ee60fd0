#!/usr/bin/env python3
"""ScoR's microbenchmarks and benchmarks, whose races come from scopes.

Usage: scor.py --autotune BINARY --suite CHECKOUT [--jobs N]

A microbenchmark's name says whether it races; a benchmark races if RACEY is defined. The data of the microbenchmarks
are volatile. PTX calls such accesses strong, and strong accesses never race, so this driver removes the keyword.
"""
import re
import sys

import suite


def micro(given):
    for path in sorted((given.suite / "microbenchmarks/src").glob("*.cu")):
        text = path.read_text()
        variables = [name for name in re.findall(r"^__device__ int (\w+) = 0;", text, re.MULTILINE)
                     # a variable that the kernel uses has the file's value at the start of each launch
                     if len(re.findall(rf"\b{name}\b", text)) > 1]
        zeros = ", ".join(f'{name} = "zero"' for name in variables)
        blocks, threads = (re.search(rf"#define\s+{name}\s+(\d+)", text)[1] for name in ("NBLOCKS", "TPERBLK"))
        yield suite.Case(
            name=path.stem, source=re.sub(r"\bvolatile\b", "", text), group="microbenchmarks",
            expected="race" if path.stem.startswith("race") else "right", explained=EXPLAINED.get(path.stem, ""),
            fields=f"""problem = {{ n = 1 }}
launch  = {{ grid = {blocks}, block = {threads} }}
kernel  = {{ constants = {{ {zeros} }} }}
oracle  = false
buffers = {{
  data = at.inout {{ count = "n", fill = "zero" }},
  {'zero = at.input { dtype = "int32", count = 1, fill = "zero" },' if variables else ""}
}}
""")


# Fields of the benchmarks' kernels: numbers, including NBLOCKS and NTHREADS, and buffers. In graph kernels, each block
# begins with its own part of the elements and then takes elements of other blocks.
GRAPH = """
  head    = at.inout { count = "NBLOCKS", fill = at.values { 0, 100, 200 } },
  tail    = at.inout { count = "NBLOCKS", fill = at.values { 100, 200, 300 } },
  bases   = at.inout { count = "NBLOCKS", fill = "zero" },
  blockIds = at.inout { count = "NBLOCKS", fill = "zero" },
"""
EDGES = """
  edgeSetU = at.input { count = 300, fill = "below", limit = 300 },
  edgeSetV = at.input { count = 300, fill = "below", limit = 300 },
"""
COLOURS = """
  colorSet = at.inout { count = 300, fill = "zero" },
  vertexColor = at.inout { count = 300, fill = "below", limit = 4 },
"""
FORBIDDEN = """
  VForbidden = at.inout { count = 300, fill = "zero" },
"""
SIZES = {"NBLOCKS": 3, "NTHREADS": 64}
BENCHMARKS = {
    "1dconv/1dconv_kernel.cu convolveKernel": ({**SIZES, "filterSize": 5, "arraySize": 200}, """
  filter = at.input { count = "filterSize" },
  array  = at.input { count = "arraySize" },
  output = at.inout { count = "arraySize", fill = "zero" },
"""),
    "matrix-multiplication/mm_kernel.cu matMultKernel": ({**SIZES, "rA": 2, "cA": 100, "cB": 40}, """
  A = at.input { count = "rA * cA" },
  B = at.input { count = "cA * cB" },
  C = at.inout { count = "rA * cB", fill = "zero" },
  sh_locks = at.inout { count = "NBLOCKS * 32", fill = "zero" },
  tempCs   = at.inout { count = "NBLOCKS * 32", fill = "zero" },
  gl_lock  = at.inout { count = 1024, fill = "zero" },
"""),
    "rule-110/r110_kernel.cu rule110Kernel": ({**SIZES, "size": 192, "step": 1}, """
  arr  = at.inout { count = "size", fill = "below", limit = 2 },
  copy = at.inout { count = "size", fill = "zero" },
  comp = at.inout { count = "NBLOCKS * NTHREADS", fill = "zero" },
"""),
    "reduction/red_kernel.cu reduceSinglePass<128, true>": ({"NBLOCKS": 3, "NTHREADS": 128, "n": 1536}, """
  g_idata = at.input { count = "n" },
  g_odata = at.output { count = "NBLOCKS", compare = 1 },
  sdata = at.scratch { count = "NBLOCKS * NTHREADS" },
  locks = at.scratch { count = "NBLOCKS * NTHREADS" },
"""),
    "graph-connectivity/gcon_kernel.cu initKernel": (SIZES, GRAPH + """
  graphComponents = at.inout { count = 300, fill = "zero" },
"""),
    "graph-connectivity/gcon_kernel.cu linkKernel": (SIZES, GRAPH + EDGES + """
  graphComponents = at.inout { count = 300, fill = "index" },
"""),
    "graph-connectivity/gcon_kernel.cu compressKernel": (SIZES, GRAPH + """
  graphComponents = at.inout { count = 300, fill = at.values { 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 } },
"""),
    "graph-coloring/gcol_kernel.cu assignColorsKernel": (SIZES, GRAPH + COLOURS + FORBIDDEN + """
  TVForbidden = at.inout { count = 300, fill = "zero" },
"""),
    "graph-coloring/gcol_kernel.cu detectConflictsKernel": (SIZES, GRAPH + EDGES + COLOURS + """
  complete = at.inout { count = 1, fill = at.values { 1 } },
"""),
    "graph-coloring/gcol_kernel.cu forbidColorsKernel": (SIZES, GRAPH + EDGES + COLOURS + FORBIDDEN),
    "uts/uts_kernel.cu parTreeSearch": ({"NBLOCKS": 3, "NTHREADS": 64}, """
  localStackStats = at.inout { dtype = "int32", count = "6 * NBLOCKS",
                               fill = at.values { 256, 1, 0, 0, 1, 0, 256, 1, 256, 0, 1, 0, 256, 1, 512, 0, 1, 0 } },
  localStacks     = at.inout { dtype = "int32", count = "4 * NTHREADS * NBLOCKS", fill = at.values { 0x0103ff00 } },
  stealStackStats = at.inout { dtype = "int32", count = "6 * NBLOCKS",
                               fill = at.values { 4000, 0, 0, 0, 0, 0, 4000, 0, 4000, 0, 0, 0, 4000, 0, 8000, 0, 0, 0 } },
  stealStacks     = at.inout { dtype = "int32", count = "4000 * NBLOCKS", fill = "zero" },
"""),
}
ACQUIRES = "the lock's atomicCAS() acquires what its block, or no cache, had before (docs/development/races.md)"
NO_FENCE = "without volatile, what follows the atomic of another block needs a fence after that atomic"
EXPLAINED = {
    "norace_interwarp-block_fence-atom_hrd-indirect": NO_FENCE,
    "norace_interwarp-block_fence_hrf-indirect": NO_FENCE,
    "race_interblock_lock-blkfence_waw": ACQUIRES,
    "race_interblock_lock-no-stf_waw": ACQUIRES,
    "race_interwarp_blklock-no-stf_waw": ACQUIRES,
    "race_interwarp_dev-blklock-no-stf_waw": ACQUIRES,
    "reduction reduceSinglePass<128, true>": "its last steps rely on lanes in lockstep, which compute capability 7.0 ended",
}


def benchmarks(given):
    for name, (numbers, buffers) in BENCHMARKS.items():
        file, entry = name.split(" ", 1)
        path = given.suite / "benchmarks" / file
        for racey in False, True:
            case = f"{file.split('/')[0]} {entry}{', RACEY' if racey else ''}"
            config = "" if "uts" not in file else ", args = { config = at.struct { at.int32(3), at.int32(2) } }"
            yield suite.Case(
                name=case, source=path.read_text(), group="benchmarks", expected="race" if racey else "right",
                explained=EXPLAINED.get(case, ""), options=["--include", path.parent],
                fields=f"""problem = {{ {", ".join(f"{key} = {value}" for key, value in numbers.items())} }}
launch  = {{ grid = "NBLOCKS", block = "NTHREADS" }}
kernel  = {{ entry = "{entry}"{', options = "-DRACEY"' if racey else ""}{config} }}
{'oracle = false' if "reduction" not in file else ""}
ragged  = false
buffers = {{{buffers}}}
""")


def main():
    given = suite.arguments("Checks ScoR's kernels.")
    return suite.judge([*micro(given), *benchmarks(given)], given, "ScoR")


if __name__ == "__main__":
    sys.exit(main())
