#!/usr/bin/env python3
"""Do the tests find mistakes in the C code?

Usage: run.py [-j JOBS] [-f FOLDER] [NAME...]

Each block of mistakes.txt names a mistake, a file, the text to replace, its replacement, the build, its target and the
tests of that build that must fail. For each mistake, or for those that are named, the script edits a copy of the last
commit in FOLDER, builds the target and runs these tests. It prints "found" if a test failed or the build did. It exits
with 1 if a mistake was not found. FOLDER is kept, so that the next run builds less.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import commit_copy  # noqa: E402


def blocks():
    for block in re.split(r"\n\n+", (Path(__file__).parent / "mistakes.txt").read_text()):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if lines:
            name, file, before, after, found_by = lines
            build, target, tests = found_by.split(" ", 2)
            yield name, file, before[2:].replace("\\n", "\n"), after[2:].replace("\\n", "\n"), build, target, tests


def finds(folder, build, target, tests, jobs, log):
    """Builds the copy and runs the tests. Returns the names of the tests that failed, or ["the build"]."""
    def run(*command):
        return subprocess.run(command, cwd=folder, stdout=log, stderr=log).returncode
    if not (folder / "build" / build).exists() and run("cmake", "--preset", build):
        sys.exit(f"{folder}: cmake failed; {log.name} says why")
    if run("cmake", "--build", f"build/{build}", "--target", target, "-j", str(jobs)):
        return ["the build"]
    result = subprocess.run(["ctest", "--test-dir", f"build/{build}", "-R", tests, "-j", str(jobs), "--no-tests=error"],
                            cwd=folder, capture_output=True, text=True)
    log.write(result.stdout)
    return re.findall(r"^\s+\d+ - (\S+) \(", result.stdout, re.M) if result.returncode else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-f", "--folder", type=Path, default=Path(tempfile.gettempdir()) / "autotune-mistakes")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    commit_copy.write(given.folder)
    missed = 0
    with open(given.folder / "build" / "log", "w") as log:
        for name, file, before, after, build, target, tests in blocks():
            if given.names and name not in given.names:
                continue
            path = given.folder / file
            text = path.read_text()
            if text.count(before) != 1:
                sys.exit(f"mistakes.txt, {name}: {file} has this text {text.count(before)} times, not once: {before}")
            path.write_text(text.replace(before, after))
            found = finds(given.folder, build, target, tests, given.jobs, log)
            path.write_text(text)
            print(f"{name:34}{'found by ' + ', '.join(found) if found else 'NOT FOUND'}", flush=True)
            missed += not found
    print(f"{missed} not found" if missed else "all found")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
