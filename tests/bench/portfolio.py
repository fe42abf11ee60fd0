#!/usr/bin/env python3
"""Tests portfolios on shapes from which they were not made. portfolio.sh describes the test."""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import time

# problems of each pattern: ranges of numbers, or lists of strings
PATTERNS = {
    "transpose": {"rows": (256, 16384), "cols": (256, 16384)},
    "dot": {"n": (1 << 16, 1 << 28)},
    "conv2d": {"rows": (256, 16384), "cols": (256, 16384)},
    "loop_order": {"rows": (256, 16384), "cols": (256, 16384), "axis": ["rows", "columns"]},
    "matmul": {"m": (128, 4096), "n": (128, 4096), "k": (128, 4096)},
}
KINDS = ("square", "power of two", "tall", "flat", "prime", "any")
NOISE = 0.01
ASKED = {"mean": 0.015, "p95": 0.04, "slower": 0.0}


def is_prime(v):
    return v > 1 and all(v % d for d in range(2, int(v ** 0.5) + 1))


def draw(r, kind, ranges):
    """Draws a shape of a kind: every number is uniform in its range by its logarithm."""
    numbers = [name for name, values in ranges.items() if isinstance(values, tuple)]

    def between(least, most):
        return max(least, min(most, round(least * (most / least) ** r.random())))

    def some(name):
        least, most = ranges[name]
        return between(least, most)

    shape = {name: some(name) for name in numbers}
    first, rest = numbers[0], numbers[1:]
    if kind == "square":
        least, most = max(ranges[n][0] for n in numbers), min(ranges[n][1] for n in numbers)
        shape = dict.fromkeys(numbers, between(least, most))
    elif kind == "power of two":
        shape = {n: max(ranges[n][0], 1 << (v.bit_length() - 1)) for n, v in shape.items()}
    elif kind in ("tall", "flat"):
        for name in numbers:
            least, most = ranges[name]
            middle = round((least * most) ** 0.5)
            large = (name == first) == (kind == "tall")
            shape[name] = between(middle, most) if large else between(least, max(least, middle // 2))
    elif kind == "prime":
        for name, v in shape.items():
            while not is_prime(v) and v > ranges[name][0]:
                v -= 1
            shape[name] = v
    for name, values in ranges.items():
        if not isinstance(values, tuple):
            shape[name] = r.choice(values)
    return shape


def draw_all(seed, kinds, ranges, count):
    """Draws this many different shapes, of the kinds in turn."""
    r, shapes = random.Random(seed), []
    while len(shapes) < count:
        shape = draw(r, kinds[len(shapes) % len(kinds)], ranges)
        if shape not in shapes:
            shapes.append(shape)
    return shapes


def shapes_of(pattern, ranges, count, seen, seed=1):
    """Yields shapes of all kinds in turn. A kind with few shapes, such as few powers of two, ends when all were
    drawn."""
    r = random.Random("portfolio " + pattern + (f" {seed}" if seed != 1 else ""))
    shapes, kinds = [], list(KINDS)
    while len(shapes) < count and kinds:
        kind = kinds[len(shapes) % len(kinds)]
        for tries in range(200):
            shape = draw(r, kind, ranges)
            if shape not in seen and shape not in [s for _, s in shapes]:
                shapes.append((kind, shape))
                break
        else:
            kinds.remove(kind)
    return shapes


class Tool:
    def __init__(self, program, folder, device):
        self.program, self.folder, self.device = program, folder, device
        self.environment = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))

    def run(self, *words):
        """Runs a command and returns its JSON, or its error message."""
        done = subprocess.run([self.program, *words], capture_output=True, text=True, env=self.environment)
        try:
            return json.loads(done.stdout), ""
        except ValueError:
            return None, done.stderr.strip() or done.stdout.strip() or "exit %d" % done.returncode

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def kept(self, name, *words):
        """Does the same as run(), but runs each command only once: keeps its output in FOLDER/name."""
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            return json.load(open(path)), ""
        found, why = self.run(*words)
        if found is not None:
            with open(path + ".part", "w") as to:
                json.dump(found, to)
            os.rename(path + ".part", path)
        return found, why


def spelt(shape):
    return [word for name, v in shape.items() for word in ("--set", "%s=%s" % (name, v))]


CONSUMER = r"""
#ifdef WITH_RUNTIME
#include <cuda_runtime.h>
#endif
#include <stdio.h>
#include "%(header)s"
int main(void)
{
    autotune_device device = autotune_device_named("%(gpu)s", %(major)d, %(minor)d);
#ifdef WITH_RUNTIME
    struct cudaDeviceProp properties;
    if (autotune_device_of(0, &properties, &device) != cudaSuccess)
        return 1;
#endif
    static const autotune_%(name)s_problem problems[] = {%(problems)s};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        autotune_%(name)s_choice c = autotune_%(name)s_find(&device, &problems[i]);
        printf("%%s", autotune_rule_name(c.rule));
%(prints)s
        puts("");
    }
    return 0;
}
"""


def struct_of(header, name):
    """Returns [(type, field)] of a struct of the header."""
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), header, re.S).group(1)
    return re.findall(r"^\s*([\w ]+?) (\w+);$", body, re.M)


def header_choices(args, tool, pattern, name, problems):
    """Returns the exported header's choice for each problem: (rule, {field: text})."""
    path = os.path.join(tool.folder, name + "_tuned.h")
    subprocess.run([tool.program, "export", pattern, "--format", "header", "--results", args.results, "-o", path],
                   check=True, stderr=subprocess.DEVNULL)
    header = open(path).read()
    record = record_of(args, name)
    major, minor = record["compute_capability"].split(".")
    variables, fields = (struct_of(header, "autotune_%s_%s" % (name, what)) for what in ("problem", "config"))

    def constant(type_name, field, v):
        if isinstance(v, str):
            return "AUTOTUNE_%s_%s_%s" % (name.upper(), field.upper(), v.upper())
        return str(v).lower()

    rows = ",\n".join("{%s}" % ", ".join(constant(t, f, p[f]) for t, f in variables) for p in problems)
    prints = "\n".join(
        '        printf("\\t%s=%%s", autotune_%s_%s_kind_name(c.config.%s));' % (field, name, field, field)
        if type_name.endswith("_kind") else '        printf("\\t%s=%%.17g", (double)c.config.%s);' % (field, field)
        for type_name, field in fields)
    source, binary = os.path.join(tool.folder, name + ".c"), os.path.join(tool.folder, name + ".consumer")
    with open(source, "w") as to:
        to.write(CONSUMER % {"header": path, "gpu": record["gpu"], "major": int(major), "minor": int(minor),
                             "name": name, "problems": rows, "prints": prints})
    command = [os.environ.get("CC", "cc"), "-std=c11", source, "-o", binary]
    if not args.no_runtime:
        home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        command += ["-DWITH_RUNTIME", "-I%s/include" % home, "-L%s/lib64" % home, "-lcudart",
                    "-Wl,-rpath,%s/lib64" % home]
    subprocess.run(command, check=True)
    lines = subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()
    return [(line.split("\t")[0], dict(word.split("=", 1) for word in line.split("\t")[1:])) for line in lines]


def record_of(args, name):
    for folder, _, files in os.walk(args.results):
        if name + ".json" in files:
            return json.load(open(os.path.join(folder, name + ".json")))
    return None


def same(config, fields):
    """Returns whether the header's configuration (texts) equals pick's (values)."""
    def alike(v, text):
        return v == text if isinstance(v, str) else float(v) == float(text)
    return set(config) == set(fields) and all(alike(v, fields[k]) for k, v in config.items())


def race(tool, place, script, words, tuned, choice):
    """Races the choice, the winner of the tuning and the default. Returns their times, or an error message."""
    pair = dict(tuned, results=[tuned["best"], dict(tuned["best"], config=choice)])
    path = os.path.join(tool.folder, place + ".pair.json")
    with open(path, "w") as to:
        json.dump(pair, to)
    count = 3 if tuned.get("baseline") else 2
    raced, why = tool.kept(place + ".race.json", script, *words, "--warm-start", path, "--budget", str(count),
                           "--top", "10")
    if raced is None:
        return None, why
    found = {}
    for r in raced["results"]:
        what = [w for w, c in (("choice", choice), ("best", tuned["best"]["config"]),
                               ("default", (tuned.get("baseline") or {}).get("config"))) if c == r["config"]]
        if r["outcome"] != "ok" and "choice" in what:
            return None, "the choice ended as %s: %s" % (r["outcome"], r.get("message", ""))
        for w in what:
            found[w] = r.get("time_ns", 0)
    return (found, "") if found.get("choice") and found.get("best") else (None, "the choice was not timed")


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def figures(regrets, slower):
    """Returns mean, 95th percentile, and the share that is slower than the default."""
    mean = sum(regrets) / len(regrets) if regrets else 0.0
    return mean, percentile(regrets, 0.95), sum(slower) / len(slower) if slower else 0.0


def summary(regrets, slower):
    return "mean %.2f %%, 95th percentile %.2f %%, slower than the default %.1f %%" % tuple(
        100 * v for v in figures(regrets, slower))


def try_pattern(args, tool, pattern, ranges):
    name = os.path.splitext(os.path.basename(pattern))[0]
    common = ["--device", args.device, "--json", "--quiet"]
    made, why = tool.kept(name + ".portfolio.json", "portfolio", pattern, *common, "--results", args.results, "--max", "8",
                          *[w for n, v in ranges.items() for w in
                            ("--over", "%s=%s" % (n, "%d..%d" % v if isinstance(v, tuple) else ",".join(v)))],
                          *args.making)
    if made is None:
        print("%-12s no portfolio: %s" % (name, why.splitlines()[-1]))
        return False
    # The shapes from which the portfolio or its tree was made.
    fixed = made["portfolio"]["fixed"]
    seen = [{n: v for n, v in p["problem"].items() if n in ranges}
            for p in made["tried"] + made["portfolio"]["problems"]]
    shapes = shapes_of(name, ranges, args.shapes, seen, args.seed)
    chosen = header_choices(args, tool, pattern, name, [dict(fixed, **shape) for _, shape in shapes])
    regrets, slower, failed, refused = {}, [], [], 0
    skipped = 0
    for i, (kind, shape) in enumerate(shapes):
        # Stored files are named by the shape, because another seed draws other shapes.
        place = ".".join([name, *map(str, shape.values())])
        if args.until and time.monotonic() - args.start_s > args.until and not tool.has(place + ".race.json"):
            skipped += 1
            continue
        words = [*spelt(shape), *common, "--no-record", *args.tuning]
        rule, fields = chosen[i]
        picked, why = tool.run("pick", pattern, *spelt(shape), "--gpu", made["device"], "--results", args.results, "--json")
        if picked is None or picked["rule"] != rule or not same(picked["configuration"], fields):
            failed.append("%s: the header says %s, pick %s" % (shape, (rule, fields), picked or why))
            continue
        tuned, why = tool.kept(place + ".json", pattern, *words, "--budget", str(args.variants), "--top", "3")
        if tuned is None or not tuned.get("best"):
            # Header and pick agree that no configuration is possible.
            refused += rule == "none"
            failed += [] if rule == "none" else ["%s cannot be tuned: %s" % (shape, why)]
            continue
        found, why = race(tool, place, pattern, words, tuned, picked["configuration"])
        if not found:
            failed.append("%s: %s" % (shape, why))
            continue
        regrets.setdefault(kind, []).append(found["choice"] / found["best"] - 1)
        slower.append(found.get("default", 0) > 0 and found["choice"] > found["default"] * (1 + NOISE))
        if args.verbose:
            print("    %-14s %-10s %+6.2f %%  %s" % (kind, rule, 100 * regrets[kind][-1], shape), flush=True)
    everything = [r for one in regrets.values() for r in one]
    args.regrets += everything
    args.slower += slower
    print("%-12s %3d shapes, %d configurations: %s" % (
        name, len(everything), len(made["portfolio"]["configurations"]), summary(everything, slower)))
    for kind in KINDS:
        if kind in regrets:
            print("    %-14s mean %.2f %%, worst %.2f %%" % (kind, 100 * sum(regrets[kind]) / len(regrets[kind]),
                                                          100 * max(regrets[kind])))
    for line in failed:
        print("    failed: %s" % line)
    if skipped:
        print("    %d shapes were left out: time was up" % skipped)
    if refused:
        print("    %d shapes for which nothing is possible" % refused)
    sys.stdout.flush()
    mean, p95, share = figures(everything, slower)
    good = mean <= ASKED["mean"] and p95 <= ASKED["p95"] and share <= ASKED["slower"]
    return not failed and bool(everything) and (good or args.no_bars)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--patterns", default=",".join(PATTERNS), help="or PATH:NAME=LO..HI:NAME=LO..HI")
    parser.add_argument("--shapes", type=int, default=40, help="a pattern (default 40)")
    parser.add_argument("--seed", type=int, default=1, help="of the shapes: another one draws others (default 1)")
    parser.add_argument("--variants", type=int, default=200, help="of the tuning of a shape (default 200)")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--making", default="", help="more options of 'autotune portfolio', with commas for blanks")
    parser.add_argument("--tuning", default="", help="more options of the tuning runs, likewise")
    parser.add_argument("--until", type=float, default=0, help="seconds after which no further shape is begun")
    parser.add_argument("--no-runtime", action="store_true", help="the header is told the GPU's name alone")
    parser.add_argument("--no-bars", action="store_true", help="regrets are printed and not judged")
    parser.add_argument("--verbose", action="store_true", help="a line for each shape")
    args = parser.parse_args()
    args.start_s = time.monotonic()
    args.making, args.tuning = ([w for w in text.split(",") if w] for text in (args.making, args.tuning))
    args.folder = os.path.abspath(args.folder)
    args.results = os.path.join(args.folder, "results")
    tool = Tool(args.program, args.folder, args.device)
    args.regrets, args.slower = [], []
    good = True
    for word in args.patterns.split(","):
        pattern, *ranges = word.split(":")
        over = {n: tuple(int(b) for b in v.split("..")) for n, v in (r.split("=") for r in ranges)}
        good = try_pattern(args, tool, pattern, over or PATTERNS[pattern]) and good
    print("%-12s %3d shapes: %s" % ("all", len(args.regrets), summary(args.regrets, args.slower)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
