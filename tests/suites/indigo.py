#!/usr/bin/env python3
"""Indigo's kernels, in the version of the HiRace artifact, on the six graphs that come with it.

Usage: indigo.py --autotune BINARY --suite CHECKOUT [--jobs N]

A kernel is wrong if its name says boundsBug, atomicBug, guardBug, raceBug or syncBug; all but the first are races.
The suite's serial code is the reference. Some mistakes only show on graphs with more edges; `executes` decides.
"""
import ctypes
import re
import struct
import sys

import suite

PUBLISHED = {  # races found, of 346, by table 1 of the artifact's paper (SC 2024)
    "DAG_100n_200e": (346, 298, 92),
    "DAG_200n_400e": (346, 298, 92),
    "DAG_5n_5e": (182, 118, 92),
    "counterDAG_200n_1000e": (346, 298, 56),
    "counterDAG_5n_5e": (295, 148, 92),
    "power_law_200n_1000e": (346, 297, 128),
}
TOO_FEW = "with this graph's edges the mistake makes no difference"
THREADS = 64  # threads of a block
NODES_A_BLOCK = {"thread": THREADS, "warp": THREADS // 32, "block": 1}


class Graph:
    """A graph of the suite, with the data that the suite's program makes for it."""

    def __init__(self, path):
        self.name = path.stem
        integers = [value for value, in struct.iter_unpack("<i", path.read_bytes())]
        self.nodes, self.edges = integers[:2]
        self.nindex = integers[2:self.nodes + 3]
        self.nlist = integers[self.nodes + 3:]
        size = max(self.nodes, self.edges)
        libc = ctypes.CDLL(None)
        libc.srand(1)
        self.data1 = [0] + [libc.rand() % self.nodes for _ in range(size - 1)]
        self.data2 = [0] + [libc.rand() % self.edges for _ in range(size - 1)]

    def buffers(self):
        return {name: getattr(self, name) for name in ("nindex", "nlist", "data1", "data2")}


class Kernel:
    """The properties of a kernel that its name states."""

    def __init__(self, name):
        self.name = name
        self.update = "_".join(name.split("_")[:2])  # such as "conditional_edge" or "push_node"
        self.words = set(name.split("_"))
        self.by = "warp" if "warp" in self.words else "block" if "block" in self.words else "thread"
        self.one_edge = "neighbor" in self.words
        self.conditional = "cond" in self.words or self.update in ("conditional_vertex", "populate_worklist")
        racy = self.words & {"atomicBug", "guardBug", "raceBug", "syncBug"}
        self.expected = "race" if racy else "fault" if "boundsBug" in self.words else "right"

    def blocks(self, graph):
        """Returns the blocks with a thread, warp or block for each node; kernels that loop over nodes get fewer."""
        blocks = -(-graph.nodes // NODES_A_BLOCK[self.by])
        return max(2, blocks // 2 - 1) if "persistent" in self.words else blocks

    def result(self):
        """Returns the buffer that the suite's program compares with its serial code's, and its number of elements."""
        if self.update.startswith("conditional"):
            return "data1", "1"
        if self.update == "populate_worklist":
            return "data2", "1"
        return "data2" if "traverse" in self.words else "data1", "numv"

    def visits(self, graph):
        """Yields node, edge and rank of the edge at its node, in the kernel's order."""
        for node in range(graph.nodes):
            begin, end = graph.nindex[node:node + 2]
            edges = list(range(begin, end))
            if self.one_edge:
                edge = end - 1 if "last" in self.words else begin
                edges = [edge] if edges or "boundsBug" in self.words else []
            elif "reverse" in self.words:
                edges.reverse()
            for rank, edge in enumerate(edges):
                if not 0 <= edge < graph.edges:
                    yield node, None, rank
                elif not self.conditional or node < graph.nlist[edge]:
                    yield node, edge, rank
                    if "break" in self.words:
                        break

    def executes(self, graph):
        """Returns whether the mistake makes a difference on `graph`."""
        if "boundsBug" in self.words:
            if not self.one_edge or any(edge is None for _, edge, _ in self.visits(graph)):
                return True  # threads beyond the last node, or edges that do not exist
            right = Kernel("_".join(word for word in self.name.split("_") if word != "boundsBug"))
            if self.outcome(graph) != right.outcome(graph):
                return True
        if self.words & {"syncBug", "raceBug"}:
            return True
        return bool(self.words & {"atomicBug", "guardBug"}) and self.races(graph)

    def races(self, graph):
        """Returns whether two threads access one element and one of them writes it."""
        lanes = {"thread": 1, "warp": 32, "block": THREADS}[self.by]
        teams = self.blocks(graph) * THREADS // lanes
        threads = {}
        for node, edge, rank in self.visits(graph):
            element = graph.nlist[edge] if self.update == "push_node" else 0
            threads.setdefault(element, set()).add((node % teams, rank % lanes))
        # nodes without edges have a thread, too
        if self.update.startswith("conditional") and self.by != "thread":
            threads = {0: set(range(min(graph.nodes, teams)))}
        if "guardBug" in self.words:
            # The guard of a block reads only edges of the first thread, unless warps reduce first.
            values = [graph.data2[graph.nlist[edge]] for _, edge, rank in self.visits(graph)
                      if self.by != "block" or "shfl" in self.words or rank % THREADS == 0]
            if max(values, default=0) <= graph.data1[0]:
                return False
        return any(len(those) > 1 for those in threads.values())

    def outcome(self, graph):
        """Computes the kernel's result, one edge after the other."""
        data1, count = list(graph.data1), 0
        for node, edge, _ in self.visits(graph):
            neighbour = graph.nlist[edge]
            count += 1
            if self.update == "conditional_edge":
                data1[0] = max(data1[0], graph.data2[neighbour])
            elif self.update == "pull_node":
                data1[node] += graph.data2[neighbour]
            elif self.update == "push_node":
                data1[neighbour] = min(data1[neighbour], graph.data2[node])
        return count if self.update in ("conditional_vertex", "populate_worklist") else data1

    def fields(self, graph):
        result, count = self.result()
        buffers = ""
        for buffer, values in graph.buffers().items():
            if self.update == "populate_worklist" and buffer == "data1":  # a list of edges in any order
                buffers += f"  data1 = at.scratch {{ count = {len(values)} }},\n"
                continue
            kind = "inout" if buffer == result else "input"
            compare = f"compare = \"{count}\", " if buffer == result else ""
            buffers += (f"  {buffer} = at.{kind} {{ count = {len(values)}, {compare}"
                        f"fill = at.file(\"{buffer}.bin\", {{ dtype = \"int32\" }}) }},\n")
        return f"""problem = {{ numv = {graph.nodes} }}
space   = {{ THREADS = {{ {THREADS} }} }}
launch  = {{ grid = {self.blocks(graph)}, block = "THREADS" }}
kernel  = {{ entry = "test_kernel" }}
ragged  = false
reference = at.reference {{ template = "serial.cu", args = {{ "nindex", "nlist", "data1", "data2", "numv" }}, grid = 1, block = 1 }}
buffers = {{
{buffers}}}
"""


def serial(text):
    """Returns the suite's serial code as a kernel of one thread."""
    code = re.search(r"^ *void serial_code\(.*?(?=^ *(int|void) \w+\()", text, re.MULTILINE | re.DOTALL)[0]
    return ("typedef int data_t;\n__device__ " + code +
            "extern \"C\" __global__ void reference(int *nindex, int *nlist, data_t *data1, data_t *data2, int numv)\n"
            "{\n    serial_code(nindex, nlist, data1, data2, numv);\n}\n")


def main():
    given = suite.arguments("Checks Indigo's kernels.")
    indigo = given.suite / "indigo"
    graphs = [Graph(path) for path in sorted((indigo / "input").glob("*.egr"))]
    cases = []
    for path in sorted(indigo.glob("indigo_sources/*/*.cu")):
        text, kernel = path.read_text(), Kernel(path.stem)
        for graph in graphs:
            files = {f"{buffer}.bin": struct.pack(f"<{len(values)}i", *values) for buffer, values in graph.buffers().items()}
            cases.append(suite.Case(
                name=f"{path.stem} {graph.name}", source=text, fields=kernel.fields(graph), group=graph.name,
                files={"serial.cu": serial(text), **files}, expected=kernel.expected,
                options=["--include", indigo / "indigo_include"],
                explained="" if kernel.expected == "right" or kernel.executes(graph) else TOO_FEW))
    tools = "HiRace", "iGUARD", "Compute Sanitizer"
    published = {graph: dict(zip(tools, counts)) for graph, counts in PUBLISHED.items()}
    return suite.judge(cases, given, "Indigo (HiRace artifact)", published)


if __name__ == "__main__":
    sys.exit(main())
