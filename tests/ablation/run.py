#!/usr/bin/env python3
"""Which verdicts change if a part of the proof is left out?

Usage: run.py [-j JOBS] [-f FOLDER] [-v] [PART...]

Prints a row of a table for each part, or only for the named parts: the part, the lines of its files, the cases of
tests/verdicts that it can affect, the verdicts that change without it, and the texts that change. A verdict changes if
the exit code of `check` changes; a text changes if only the output of `check` does. -v lists the cases. PART+PART
leaves out both parts at once.

The script copies the files of the last commit to FOLDER and builds the program there. FOLDER is kept, so that the next
run builds less. For each part it replaces the bodies of some functions, so that the part does nothing, builds again
and checks the cases.
"""
import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import commit_copy  # noqa: E402

SAMPLED = r"blocks of the tuned problem "  # check prints this if it did not run all blocks


class Part(NamedTuple):
    files: tuple  # files below tuner/sim that only this part uses
    bodies: dict  # {"file:function": the new body}, files below tuner/
    cases: str  # regular expression for the paths of cases that the part can affect
    reach: str = ""  # regular expression for check's output in these cases


PARTS = {
    "sweep": Part(("sweep.c", "sweep.h", "symbolic.c", "affine.c", "affine.h"),
                  {"sim/sweep.c:sim_sweep_run": "*out = (sim_sweep){.ended = false};"}, "sizes/|triangle", SAMPLED),
    "quotients and bits of exact values": Part(
        (), {"sim/symbolic.c:quotient": "(void)r; return affine_obstacle(&s->box, (const affine *const[]){operand(s, c, 0)}, 1);",
             "sim/symbolic.c:masked": "return affine_obstacle(&s->box, (const affine *const[]){operand(s, c, 0)}, 1);",
             "sim/symbolic.c:combined": "return affine_obstacle(&s->box, (const affine *const[]){operand(s, c, 0)}, 1);",
             "sim/symbolic.c:field": "(void)inserts; return affine_obstacle(&s->box, (const affine *const[]){operand(s, c, 0)}, 1);"},
        "sizes/|triangle", SAMPLED),
    "holes": Part(("excerpt_holes.c",),
                  {"sim/excerpt_holes.c:look_for_holes": "*out = (hole){.kind = HOLE_NONE}; return AT_OK;"},
                  "sizes/|triangle", SAMPLED),
    "owners": Part(("owners.c", "owners.h"), {"sim/owners.c:sim_owners_write": "*found = false; return AT_OK;"},
                   "sizes/|triangle", SAMPLED),
    "larger problems": Part((), {"run/setup/proof_problems.c:proof_problems_enlarge": ""}, "executed/|sizes/"),
    "bits of values": Part(
        (), {"sim/machine/values.c:put": """SIM_EACH_OF(l, mask) {
                 if (width == 8) sim_missing64(w, slot)[l] = missing[l] ? UINT64_MAX : 0;
                 else sim_missing32(w, slot)[l] = (uint32_t)missing[l] ? UINT32_MAX : 0; }""",
             "sim/machine/values.c:compute_lane": """uint64_t any = 0;
                 for (int i = 0; i < 4; i++)
                     if (c->widths[i] && slots[i] >= 0)
                         any |= missing_of(w, slots[i], c->widths[i], l);
                 *missing = any ? UINT64_MAX : 0;"""}, "registers/|heap/|matrices/|warpgroups/"),
    "older writes": Part(
        ("machine/strong.c", "machine/strong.h", "machine/history.c", "machine/history.h"),
        {"sim/machine/strong.c:sim_strong_read": "return 0;", "sim/machine/strong.c:sim_strong_store": "return true;",
         "sim/machine/strong.c:sim_strong_choose": "return SIM_READS_MEMORY;"}, "schedules/|scopes/"),
}


def replace_body(text, function, body):
    """Replaces the body of a function."""
    found = re.search(rf"^[^\n;{{}}=#/]*\b{function}\([^;{{}}]*\)\n\{{\n(.*?)^\}}\n", text, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"there is no function {function}: update PARTS")
    return text[:found.start(1)] + "    " + body + "\n" + text[found.end(1):]


class Copy:
    """Copies the last commit and builds the program."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = folder, jobs
        self.binary = folder / "build" / "bin" / "autotune"
        commit_copy.write(folder)
        if not (folder / "build" / "build.ninja").exists():
            self.call("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
        self.build()

    def call(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(done.stdout[-4000:])

    def build(self):
        self.call("cmake", "--build", self.folder / "build", "--target", "autotune", "-j", str(self.jobs))

    def build_without(self, bodies):
        originals = {}
        try:
            for place, body in bodies.items():
                path = self.folder / "tuner" / place.partition(":")[0]
                originals.setdefault(path, path.read_text())
                path.write_text(replace_body(path.read_text(), place.partition(":")[2], body))
            self.build()
        finally:
            for path, text in originals.items():
                path.write_text(text)


def load_verdicts():
    spec = importlib.util.spec_from_file_location("verdicts", ROOT / "tests" / "verdicts" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_all(copy, verdicts, cases):
    """{case: (exit code, output)}; the exit code is None if check does not end."""
    def check(case):
        with tempfile.TemporaryDirectory() as folder:
            verdicts.write(folder, verdicts.parse(verdicts.HERE / case)[2])
            try:
                return verdicts.check(copy.binary, folder, os.sched_getaffinity(0))[:2]
            except subprocess.TimeoutExpired:
                return None, ""
    with ThreadPoolExecutor(copy.jobs) as pool:
        return dict(zip(cases, pool.map(check, cases)))


def joined(name):
    """Returns the part of that name, or the parts joined by "+" as one part."""
    parts = [PARTS[one] for one in name.split("+")]
    return Part(sum((p.files for p in parts), ()), {k: v for p in parts for k, v in p.bodies.items()},
                "|".join(p.cases for p in parts), parts[0].reach if len({p.reach for p in parts}) == 1 else "")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("-j", type=int, default=2, metavar="JOBS")
    options.add_argument("-f", type=Path, default=Path(tempfile.gettempdir()) / "autotune-ablation", metavar="FOLDER")
    options.add_argument("-v", action="store_true")
    options.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    given = options.parse_args()
    parts = {name: joined(name) for name in given.parts}
    verdicts = load_verdicts()
    copy = Copy(given.f, given.j)
    names = [str(p.relative_to(verdicts.HERE)) for p in sorted(verdicts.HERE.glob("*/*.case"))]
    whole = check_all(copy, verdicts, [n for n in names if any(re.search(p.cases, n) for p in parts.values())])
    print("| part | lines | cases | verdicts | texts |\n|---|---|---|---|---|")
    for name, part in parts.items():
        cases = [n for n in whole if re.search(part.cases, n) and re.search(part.reach, whole[n][1])]
        copy.build_without(part.bodies)
        found = check_all(copy, verdicts, cases)
        changed = [n for n in cases if found[n][0] != whole[n][0]]
        texts = [n for n in cases if found[n][0] == whole[n][0] and found[n][1] != whole[n][1]]
        lines = sum(len((ROOT / "tuner" / "sim" / f).read_text().splitlines()) for f in part.files)
        print(f"| {name} | {lines or '-'} | {len(cases)} | {len(changed)} | {len(texts)} |", flush=True)
        for n in changed + texts if given.v else []:
            print(f"    {n}: {whole[n][0]} -> {found[n][0]}")


if __name__ == "__main__":
    sys.exit(main())
