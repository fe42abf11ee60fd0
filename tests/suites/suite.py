"""Runs kernels of a public suite through `autotune check` and prints the verdicts beside the suite's own answers.

A driver makes a Case for each kernel and input, and passes the list to `judge`. A check runs in a temporary folder
with the kernel's text from the checkout, and the fields that its file lacks (`--describe`). Only names, sizes and
answers of a suite are stored here.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

CPU_SECONDS = 300  # processor time of a check, in seconds; a longer check counts as an error


@dataclass
class Case:
    name: str
    source: str  # the text of the kernel's file
    fields: str  # Lua: the fields of the description
    expected: str  # the suite's answer: "right", "race" or "fault" (another mistake)
    group: str = ""  # the row of the table
    files: dict = field(default_factory=dict)  # other files beside the description: name to text or bytes
    options: list = field(default_factory=list)
    explained: str = ""  # reason why the suite's answer is wrong for this input; empty if it is right
    verdict: str = ""  # "right", "race", "fault", "unknown" or "error"
    message: str = ""
    seconds: float = 0.0

    @property
    def agrees(self):
        return self.verdict == "right" if self.expected == "right" else self.verdict in ("race", "fault")


def arguments(summary):
    parser = argparse.ArgumentParser(description=summary)
    parser.add_argument("--autotune", required=True, type=Path, help="the program")
    parser.add_argument("--suite", required=True, type=Path, help="a checkout of the suite")
    parser.add_argument("--jobs", type=int, default=1, help="checks at a time")
    parser.add_argument("--only", default="", help="only cases whose name holds this text")
    parser.add_argument("--verbose", action="store_true", help="print each verdict")
    given = parser.parse_args()
    given.autotune, given.suite = given.autotune.resolve(), given.suite.resolve()
    return given


def check(case, autotune):
    """Fills in verdict, message and processor seconds of `case`."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        for name, text in {"kernel.cu": case.source, "fields.lua": case.fields, **case.files}.items():
            (Path(folder) / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        limit = (CPU_SECONDS, CPU_SECONDS)
        child = subprocess.Popen(
            [autotune, "check", "kernel.cu", "--describe", "fields.lua", "--json", "--jobs", "1", *case.options],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))
        status, usage = os.wait4(child.pid, 0)[1:]
        child.returncode = os.waitstatus_to_exitcode(status)
        case.seconds = usage.ru_utime + usage.ru_stime
        out.seek(0)
        err.seek(0)
        try:
            variant = json.loads(out.read())["variants"][0]
        except (ValueError, KeyError, IndexError):
            case.verdict, case.message = "error", err.read().decode(errors="replace").strip() or str(child.returncode)
            return
    case.message = variant["message"] or ""
    if child.returncode == 0:
        case.verdict = "right"
    elif child.returncode == 1:
        case.verdict = "race" if "data race" in case.message else "fault"
    else:
        case.verdict = "unknown" if child.returncode == 3 else "error"


def judge(cases, given, title, published=None):
    """Checks all cases, prints a table with a row for each group and a line for each disagreement.

    `published` has, by group, what other tools found of its races, by the tool's name.
    Returns the exit code: 1 if a verdict differs from the expected one without an explanation.
    """
    cases = [case for case in cases if given.only in case.name]
    if not cases:
        sys.exit("no case has that name")
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda case: check(case, given.autotune), cases))
    if given.verbose:
        for case in cases:
            print(f"{case.name}: {case.expected}, {case.verdict} ({case.seconds:.2f} s) {case.message}")
    commit = subprocess.run(["git", "-C", given.suite, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"{title}, commit {commit}: {len(cases)} checks, median "
          f"{statistics.median(case.seconds for case in cases):.2f} s of the processor\n")
    published = published or {}
    others = list(next(iter(published.values()), {}))
    heads = ["races", "found as a race", "by another fault", "missed", *others,
             "other faults", "found", "missed", "right", "proven", "rejected", "not proven"]
    print("| | " + " | ".join(heads) + " |")
    print("|---" + len(heads) * "|--:" + "|")
    for group in dict.fromkeys(case.group for case in cases):
        cells = [group]
        for expected, columns in (("race", ("race", "fault", "right unknown error")),
                                  ("fault", ("race fault", "right unknown error")),
                                  ("right", ("right", "race fault", "unknown error"))):
            verdicts = [case.verdict for case in cases if case.group == group and case.expected == expected]
            cells.append(len(verdicts))
            cells += (sum(verdict in column.split() for verdict in verdicts) for column in columns)
            if expected == "race":
                cells += published.get(group, {}).values()
        print("| " + " | ".join(map(str, cells)) + " |")
    print()
    for case in cases:
        if not case.agrees:
            print(f"{case.name}: {case.expected}, found {case.verdict}: {case.explained or 'UNEXPLAINED ' + case.message}")
    return int(any(not case.agrees and not case.explained for case in cases))
