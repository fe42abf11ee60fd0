#!/usr/bin/env python3
"""Runs everything at once, with a kill every few seconds: tunings of new problems, sweeps, verifications, merges and a
program that picks and launches, on one folder of records.

usage: soak.py BUILD SECONDS [DEVICE]

Runs on DEVICE (default cuda:0) of this machine, or of the driver that AUTOTUNE_LIBCUDA names. At the end it checks
that
  - nothing was lost: every result that a command reported as recorded is recorded, and every record is whole;
  - nothing hung: every command ended within its limit;
  - nothing failed except killed commands, and no process, temporary file or lock is left;
  - memory is flat: that of the program and of the tuners, whose later runs need no more than the first ones.
Exit code: 0, or 1 with the errors.
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

LIMIT_S = 240          # limit of one command, in seconds
KILL_S = (1.0, 4.0)    # seconds between two kills
GROWTH_KIB = 16 * 1024 # allowed growth of a process's memory
JOURNAL_KIB = 2 * 64 * 1024 # size at which the journal is put aside; a tuner reads the whole journal
PROBLEMS = 240         # number of different problems; then they are tuned again, because records must not grow forever
SCRIPT = "soaked.lua"


class Soak:
    def __init__(self, build, seconds, device):
        self.tool, self.program = os.path.join(build, "bin/autotune"), os.path.join(build, "tests/pick_and_launch")
        self.device, self.seconds = device, seconds
        self.end = time.monotonic() + seconds
        self.random = random.Random(1)
        self.guard = threading.Lock()
        self.problems, self.running, self.killed = [], {}, set()
        self.promised, self.counts, self.peaks = set(), {}, {}
        self.next_problem = 0
        self.folder = tempfile.mkdtemp(prefix="autotune-soak-")
        self.environment = dict(os.environ, XDG_STATE_HOME=os.path.join(self.folder, "state"),
                                XDG_CACHE_HOME=os.path.join(self.folder, "cache"),
                                AUTOTUNE_TURNS=self.folder, TMPDIR=self.folder)
        here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "faults")
        for name in "timed.cu.tmpl", "timed_ref.cu.tmpl":
            shutil.copy(os.path.join(here, name), self.folder)
        text = open(os.path.join(here, "timed.lua")).read()
        text = re.sub(r"  space = .*", "  space = { a = at.range(10, 12), b = at.range(4, 7) },", text)
        text = re.sub(r"  baseline = .*", "  baseline = { a = 10, b = 4 },", text)
        with open(os.path.join(self.folder, SCRIPT), "w") as script:
            script.write(text.replace('"timed",\n  summary', '"soaked",\n  summary'))

    def complain(self, text):
        with self.guard:
            self.problems.append(text)

    def over(self):
        return time.monotonic() > self.end

    def run(self, kind, *words):
        """Runs one command to its end. Returns its exit code, or None if it was killed or stopped by one of our
        signals."""
        process = subprocess.Popen([self.tool, *words], cwd=self.folder, env=self.environment, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with self.guard:
            self.running[process.pid] = kind
        try:
            out, err = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            self.complain(f"hung for {LIMIT_S} s: {kind}: {' '.join(words)}: {err[-500:]}")
        with self.guard:
            del self.running[process.pid]
            self.counts[kind] = self.counts.get(kind, 0) + 1
            touched = process.pid in self.killed
        if process.returncode == 0:
            return out
        if not touched:
            self.complain(f"exit {process.returncode}: {kind}: {' '.join(words)}: {err[-500:]}")
        return None

    # ---- commands and programs ----

    def sizes(self, count):
        with self.guard:
            first = self.next_problem
            self.next_problem += count
        return [4096 + 64 * ((first + i) % PROBLEMS) for i in range(count)]

    def promise(self, sizes):
        with self.guard:
            self.promised.update(sizes)

    def tune(self):
        (n,) = self.sizes(1)
        if self.run("tune", SCRIPT, "--device", self.device, "--quiet", "--json", "--set", f"n={n}") is not None:
            self.promise([n])

    def sweep(self):
        sizes = self.sizes(3)
        over = "n=" + ",".join(map(str, sizes))
        said = self.run("sweep", "sweep", SCRIPT, "--over", over, "--device", self.device, "--quiet", "--json")
        if said is not None:
            points = json.JSONDecoder().raw_decode(said)[0]["points"]
            # A point whose workers were killed repeatedly reports the failure and has no result.
            self.promise([p["problem"]["n"] for p in points if p.get("record")])

    def known(self):
        """Returns the recorded problems; waits for the first one."""
        while not self.promised and not self.over():
            time.sleep(0.2)
        with self.guard:
            return sorted(self.promised) or [0]

    def verify(self):
        self.run("verify", "verify", SCRIPT, "--device", self.device, "--quiet", "--set", f"n={self.random.choice(self.known())}")
        time.sleep(1)

    def merge(self):
        self.known()
        self.run("merge", "results", "merge", "results", "--results", "copy")
        self.run("validate", "results", "validate", "results")
        self.run("merge", "results", "merge", "copy", "--results", "results")
        time.sleep(1)

    def repeat(self, work):
        while not self.over():
            try:
                work()
            except Exception as error:  # a thread that ends unnoticed would make the test worthless
                self.complain(f"{work.__name__}: {error!r}")
                return

    # ---- kills ----

    def family(self):
        """Returns the running commands and their processes."""
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
                parents[int(pid)] = int(fields[1])
            except (OSError, IndexError):
                pass
        with self.guard:
            running = dict(self.running)
        found = []
        for pid in parents:
            at = pid
            while at in parents and at not in running:
                at = parents[at]
            if at in running:
                found.append((pid, at))
        return running, found

    def note_memory(self, running, found):
        for pid, of in found:
            try:
                rss = int(re.search(r"VmHWM:\s*(\d+)", open(f"/proc/{pid}/status").read()).group(1))
                name = open(f"/proc/{pid}/comm").read().strip()
            except (OSError, AttributeError):
                continue
            if pid == of:
                self.peaks.setdefault(running[of], {})[pid] = rss
            else:
                self.peaks.setdefault(name, {})[pid] = rss

    def disturb(self):
        due = time.monotonic() + 2
        while not self.over():
            time.sleep(0.2)
            running, found = self.family()
            self.note_memory(running, found)
            if time.monotonic() < due or not found:
                continue
            due = time.monotonic() + self.random.uniform(*KILL_S)
            pid, of = self.random.choice(found)
            how = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
            with self.guard:
                self.killed.add(of)
            try:
                os.kill(pid, how)
                self.counts["kill"] = self.counts.get("kill", 0) + 1
            except ProcessLookupError:
                pass

    # ---- checks at the end ----

    def check_records(self):
        said = subprocess.run([self.tool, "results", "list", "--results", "results", "--json"], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True)
        if said.returncode:
            self.complain(f"results list: {said.stderr}")
            return
        listed = json.loads(said.stdout)
        if listed["left_out"]:
            self.complain(f"damaged: {listed['left_out']}")
        lost = self.promised - {e["problem"]["n"] for e in listed["entries"]}
        if lost:
            self.complain(f"lost: n = {sorted(lost)}")

    def check_memory(self):
        for name, peaks in self.peaks.items():
            values = [rss for _, rss in sorted(peaks.items())]
            quarter = len(values) // 4
            if quarter < 5:
                continue
            first, last = sorted(values[:quarter])[quarter // 2], sorted(values[-quarter:])[quarter // 2]
            print(f"memory of {name}: {first} KiB in the first quarter, {last} in the last")
            if last > first * 1.3 + GROWTH_KIB + (JOURNAL_KIB if name in ("tune", "sweep") else 0):
                self.complain(f"memory of {name} grows: {first} KiB, then {last}")

    def check_program(self, program):
        try:
            out, err = program.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            program.kill()
            self.complain("the program that picks and launches hung")
            return
        if program.returncode:
            self.complain(f"the program that picks and launches: exit {program.returncode}: {err[-500:]}")
            return
        print("the program that picks and launches:", out.strip())
        _, rounds, _, launched, _, early, late = out.split()
        if int(launched) < 3:
            self.complain("it launched nothing")
        if int(late) > int(early) + GROWTH_KIB:
            self.complain(f"its memory grows: {early} KiB, then {late}")

    def check_processes(self):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            left = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    if f"XDG_STATE_HOME={self.environment['XDG_STATE_HOME']}".encode() in \
                            open(f"/proc/{pid}/environ", "rb").read():
                        left.append(pid)
                except OSError:
                    pass
            if not left:
                return
            time.sleep(0.2)
        self.complain(f"processes are left: {left}")

    def whole(self):
        program = subprocess.Popen([self.program, "results", SCRIPT, "soaked", str(self.seconds), "cache/autotune"],
                                   cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        os.makedirs(os.path.join(self.folder, "results"))
        work = [self.tune, self.tune, self.sweep, self.verify, self.merge]
        threads = [threading.Thread(target=self.repeat, args=(w,)) for w in work]
        threads.append(threading.Thread(target=self.disturb))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.check_program(program)
        self.check_records()
        self.check_memory()
        self.check_processes()
        print(f"in {self.seconds} s: " + ", ".join(f"{n} x {kind}" for kind, n in sorted(self.counts.items())) +
              f"; {len(self.promised)} problems recorded")
        if not self.promised:
            self.complain("nothing was recorded")
        if not self.counts.get("kill"):
            self.complain("nothing was killed")
        for text in self.problems[:20]:
            print("WRONG:", text)
        if self.problems:
            print(f"{len(self.problems)} things are wrong; {self.folder} is kept")
            return 1
        shutil.rmtree(self.folder)
        return 0


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(Soak(os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "cuda:0").whole())


main()
