#!/usr/bin/env python3
"""Checks a build against the rules of the house.

usage: house.py SOURCE BUILD NM

Each room's row of the table (its CMakeLists.txt) lists the rooms that it may use. From the object files of the build
and the includes of the sources this test reports
  - a call or a use of data that the table does not allow (an include that it does not allow does not build);
  - rooms that use each other, directly or through others;
  - circles of calls between modules (a .c with its .h), and circles of includes between headers;
  - a table in CONTRIBUTING.md that differs, or a room within a room that uses more than its row allows;
  - a room of the library that uses base/memory.h, which ends the process if memory is short;
  - more files, or more headers with one user, than the limits;
  - an include of a header that is private to another room;
  - unused symbols: functions and data visible to other modules to which no other module refers;
  - a script that begins with #! and cannot be called by its path, as README.md and CONTRIBUTING.md call them; a
  dangling link.
"""
import os
import re
import subprocess
import sys

# Outside their own module only unit tests use these, or autotune-rank, which a build without MPI lacks.
FOR_TESTS = {
    "worker_spawn", "candidate_next", "ceilings_parse", "next_limit_ns", "spending_search",
    "device_worker_confine",
    "device_worker_pending", "device_worker_start_with", "interrupt_is_pending", "compile_worker_confine",
    "journal_count", "journal_path", "judge_interval", "pick_scale",
    "recorded_open_text", "recorded_parse",
    "sites_open_with",
    "portfolio_class", "portfolio_class_count", "stats_t_tail", "strategy_kinds",
}


class Room:
    def __init__(self, path):
        fields = dict(line.rstrip("\n").split("=", 1) for line in open(path))
        self.name = fields["room"]
        self.uses = [r for r in fields["uses"].split(";") if r]
        self.objects = fields["objects"].split(";")


def symbols(nm, paths):
    """Returns for each object file the names that it defines for others, and the names that it needs from others."""
    found = {path: (set(), set()) for path in paths}
    if not all(os.path.exists(path) for path in paths):
        sys.exit("house: not everything is built: cmake --build --preset release")
    listing = subprocess.run([nm, "-P", "-A", "-g", *paths], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        path, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if not name.startswith("__"):  # added by a sanitizer
            found[path][kind == "U"].add(name)
    return found


def circles(graph):
    """Returns the strongly connected components of more than one node, by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(graph.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = []
            while not part or part[-1] != v:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def module_of(room, path):
    return room + "/" + os.path.basename(path).split(".")[0]


def includes(source):
    """Returns the headers that a header includes."""
    graph = {}
    for top, prefix in ((os.path.join(source, "tuner"), ""), (os.path.join(source, "search"), "search/")):
        for folder, _, files in os.walk(top):
            for file in (f for f in files if f.endswith(".h")):
                path = os.path.join(folder, file)
                here = prefix + os.path.relpath(path, top)
                graph[here] = set(re.findall(r'^#include "(.+)"', open(path).read(), re.M))
    return graph


# the only headers of a room that other rooms may include
PUBLIC = {"sim/": {"sim/sim.h", "sim/chip.h", "sim/estimate.h", "sim/explain.h", "sim/kernel.h", "sim/machine/run.h"}}


def private_uses(source):
    """Returns includes of private headers by other rooms."""
    for folder, _, files in os.walk(os.path.join(source, "tuner")):
        for file in (f for f in files if f.endswith((".c", ".h"))):
            path = os.path.join(folder, file)
            here = os.path.relpath(path, os.path.join(source, "tuner"))
            for included in re.findall(r'^#include "(.+)"', open(path).read(), re.M):
                for room, public in PUBLIC.items():
                    if included.startswith(room) and not here.startswith(room) and included not in public:
                        yield f"{here} includes {included}, which is private to {room[:-1]}: include " + " or ".join(sorted(public))


# Each of these figures may only fall. A change that lowers a figure lowers its limit, too.
MOST_FILES = 556  # .c and .h
MOST_LONELY_HEADERS = 24


def size(source):
    """Returns the number of .c and .h files, and the headers that only one file, besides their own .c, includes."""
    users, headers, count = {}, {}, 0
    for top, prefix in ((os.path.join(source, "tuner"), ""), (os.path.join(source, "search"), "search/")):
        for folder, _, files in os.walk(top):
            for file in (f for f in files if f.endswith((".c", ".h"))):
                path = os.path.join(folder, file)
                here = prefix + os.path.relpath(path, top)
                count += 1
                if file.endswith(".h"):
                    headers[here] = here[:-2] + ".c"
                for included in re.findall(r'^\s*#\s*include "(.+)"', open(path).read(), re.M):
                    users.setdefault(included, set()).add(here)
    return count, [h for h, own in sorted(headers.items()) if len(users.get(h, set()) - {own}) == 1]


def table(source):
    """Returns CONTRIBUTING.md's list of rooms that each room may use, as a test of a set of rooms."""
    rows = re.findall(r"^\| `(\w+)`[^|]*\|[^|]*\|([^|]*)\|$", open(os.path.join(source, "CONTRIBUTING.md")).read(), re.M)
    told = {}
    for room, row in rows:
        words = set(re.findall(r"\w+", row))
        if "all" in words:
            told[room] = words.isdisjoint  # "all but ..."
        else:
            told[room] = words.__eq__
    return told


def dead_ends(source):
    """Returns scripts that cannot be called, and links that cannot be read, by their paths."""
    for folder in ("tests", "docs", ".ci"):
        for at, _, files in os.walk(os.path.join(source, folder)):
            for path in (os.path.join(at, name) for name in files):
                if not os.path.exists(path):
                    yield f"{os.path.relpath(path, source)} is a link that leads nowhere: mend or remove it"
                elif not os.access(path, os.X_OK) and open(path, "rb").read(2) == b"#!":
                    yield f"{os.path.relpath(path, source)} cannot be called by its path: make it executable"


def main():
    source, build, nm = sys.argv[1:]
    wrong = []
    folder = os.path.join(build, "house", "rooms")
    rooms = [Room(os.path.join(folder, f)) for f in sorted(os.listdir(folder))]
    mains = open(os.path.join(build, "house", "others")).read().strip().split(";")
    found = symbols(nm, [path for room in rooms for path in room.objects] + mains)
    home, wants = {}, {}
    for room in rooms:
        for path in room.objects:
            defined, wanted = found[path]
            module = module_of(room.name, path)
            wants.setdefault(module, set()).update(wanted)
            home.update((name, (room.name, module)) for name in defined)

    calls = {}
    public = open(os.path.join(source, "tuner/include/autotune.h")).read()
    used = set().union(*(found[path][1] for path in mains)) | set(re.findall(r"\bat_\w+(?=\()", public))
    for room in rooms:
        for path in room.objects:
            module = module_of(room.name, path)
            for name in wants[module]:
                if name not in home or home[name][1] == module:
                    continue
                used.add(name)
                calls.setdefault(module, set()).add(home[name][1])
                if home[name][0] != room.name and home[name][0] not in room.uses:
                    wrong.append(f"{module} uses {name} of {home[name][0]}, which {room.name} may not use: move the code to a room "
                                 f"that may, or add {home[name][0]} to USES in {room.name}'s CMakeLists.txt")
    library = {"library"}.union(*(r.uses for r in rooms if r.name == "library"))
    ends = {name for name, (_, module) in home.items() if module == "base/memory"}
    for module, wanted in wants.items():
        if module.startswith(tuple(room + "/" for room in library)) and module != "base/memory" and wanted & ends:
            wrong.append(f"{module} of the library uses {min(wanted & ends)}, which may end its caller's process: "
                         "allocate without base/memory.h, and return AT_NO_MEMORY")
    told = table(source)
    outer = {}  # room: what it and the rooms within it may use
    for room in rooms:
        name = room.name.split("/")[0]
        outer.setdefault(name, set()).update(u.split("/")[0] for u in room.uses)
    for name, uses in outer.items():
        uses.discard(name)
        if not told.get(name, lambda _: False)(uses):
            wrong.append(f"CONTRIBUTING.md's row of {name} differs from USES in its CMakeLists.txt: change one of them. "
                         "USES has: " + " ".join(sorted(uses)))
    for part in circles({r.name: r.uses for r in rooms}):
        wrong.append("rooms that use each other: " + ", ".join(part) + ". Remove one from the other's USES")
    for part in circles(calls):
        wrong.append("modules that call each other in a circle: " + ", ".join(part) + ". Move what both need into one of them")
    for part in circles(includes(source)):
        wrong.append("headers that include each other in a circle: " + ", ".join(part) + ". Declare a type in place of an include")
    for name in sorted(set(home) - used - FOR_TESTS):
        wrong.append(f"no one outside of {home[name][1]} uses {name}: make it static, remove it, or, if unit tests "
                     "use it, add it to FOR_TESTS in tests/house.py")
    for name in sorted(FOR_TESTS - set(home)):
        wrong.append(f"{name} does not exist: remove it from FOR_TESTS in tests/house.py")
    files, lonely = size(source)
    if files > MOST_FILES:
        wrong.append(f"{files} files of C are more than {MOST_FILES}: put what is read together into one file")
    if len(lonely) > MOST_LONELY_HEADERS:
        wrong.append(f"{len(lonely)} headers have one user, which is more than {MOST_LONELY_HEADERS}: " + " ".join(lonely)
                     + ". Put the declarations of yours into the file that includes it")
    wrong += sorted(dead_ends(source)) + sorted(private_uses(source))
    print("\n".join(wrong) or f"{len(rooms)} rooms, {len(wants)} modules: as planned")
    return 1 if wrong else 0


sys.exit(main())
