#!/usr/bin/env python3
"""Writes docs/development/patterns.md from the records in results/.

usage: docs/development/patterns.py AUTOTUNE [OUTPUT]

Each section of the page is a sweep. `autotune sweep ... --recorded` reads its figures from the records, so the page has no figure
that a record does not have. If the records have no point of a sweep, the section says so.
"""
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Lesson:
    """A sweep of a pattern. `note` is a rule of study notes about other GPUs, or None. `find` takes the measured points
    ({value: point}) and returns a sentence, or None if the points do not suffice."""

    def __init__(self, title, sweep, space, note, find):
        self.title, self.sweep, self.space, self.note, self.find = title, sweep, space, note, find


def share(point, key):
    """Returns the share of a copy's rate that the best or the baseline reaches, or None if it is unknown."""
    if not point.get("ceiling_fraction") or not point.get(key):
        return None
    return point["ceiling_fraction"] * point[key] / point["gbps"]


def percent(fraction):
    return f"{100 * fraction:.1f} %"


def verdict(holds, said):
    return ("The note holds here: " if holds else "The note is refuted here: ") + said


def fall(note):
    """Compares the baseline's share of a copy's rate with the note's share at each value."""
    def find(points):
        known = {v: share(points[v], "baseline_gbps") for v in note if v in points}
        known = {v: f for v, f in known.items() if f}
        if len(known) < 2:
            return None
        last = list(known)[-1]
        said = ", ".join(f"{percent(f)} at {v} (note: {note[v]} %)" for v, f in known.items())
        factor = known[last] * 100 / note[last]
        text = f"direct reads reach {said} of a copy."
        falls = list(known.values()) == sorted(known.values(), reverse=True)
        if falls and not 0.5 < factor < 2:
            return f"The share falls here, too, but differently: {text} At {last} it is {factor:.1f} times the note's share."
        return verdict(falls, text)
    return find


def gain(at, least, what):
    """Compares the best with the baseline at one value. By the note, the best is at least `least` times as fast."""
    def find(points):
        p = points.get(at)
        if not p or not p.get("speedup"):
            return None
        return verdict(p["speedup"] >= least / 2,
                       f"{what} is {p['speedup']:.2f} times as fast as the baseline (note: {least}).")
    return find


def wins(at, what):
    """Compares the best with the baseline at one value. The note has no figure."""
    def find(points):
        p = points.get(at)
        if not p or not p.get("speedup"):
            return None
        return verdict(p["speedup"] > 1.02, f"{what} is {p['speedup']:.2f} times as fast as the baseline.")
    return find


def beyond(at):
    """Compares the best with the baseline and with a copy. There is no rule to test."""
    def find(points):
        p = points.get(at)
        return p and (f"The best is {p['speedup']:.2f} times as fast as this baseline, and reaches "
                      f"{percent(share(p, 'gbps'))} of a copy.")
    return find


def slower(of, than, least, what):
    """Compares the baseline's times at two values. By the note, the ratio is at least `least`."""
    def find(points):
        if any(not points.get(v, {}).get("speedup") for v in (of, than)):
            return None
        base = {v: points[v]["time_ns"] * points[v]["speedup"] for v in (of, than)}
        best = points[of]["time_ns"] / points[than]["time_ns"]
        factor = base[of] / base[than]
        return verdict(factor >= 1 + (least - 1) / 2,
                       f"{what} takes {factor:.2f} times as long for the baseline (note: {least}), and {best:.2f} times for the best.")
    return find


def elements_in_flight(points):
    if not points:
        return None
    counts = [p["config"]["width"] * p["config"]["items"] for p in points.values()]
    return verdict(min(counts) > 1, f"the winners have {', '.join(map(str, counts))} elements of each array in flight per thread.")


def baseline_conflict(points):
    if "1" not in points or "32" not in points:
        return None
    rate = {v: points[v]["baseline_gbps"] for v in ("1", "32")}
    # The traffic is 4 * n * (stride + 1) bytes: the words that a thread reads from shared memory grow with the stride.
    factor = rate["1"] / 2 / (rate["32"] / 33)
    words = factor / 32
    said = (f"with 32 words between the lanes, the baseline takes {factor:.0f} times as long as with 1 word, for 32 times "
            f"the words: {words:.1f} times as long per word. The best uses padding or a swizzle, and is "
            f"{points['32']['speedup']:.1f} times as fast as the baseline.")
    return verdict(words > 16, said)


LESSONS = [
    Lesson("Naive, tiled, padded transpose", ["transpose", "--over", "rows=8192,16384", "--over", "cols=8192,16384"],
           "naive, tiles in shared memory, register blocks and asynchronous copies; padding or swizzle; vectors",
           "A tile in shared memory is 5.7 times as fast as naive code. One column of padding makes it 8.9 times as fast as "
           "no padding. The baseline here is already the padded tile of the textbooks.",
           beyond("8192, 8192")),
    Lesson("Strided access", ["strided", "--over", "stride=1,2,4,...,64"],
           "direct reads, whole segments through shared memory, vectors",
           "Bandwidth falls to 93, 47, 23, 12, 6 and 3 % of the peak for strides of 1, 2, 4, 8, 16 and 32.",
           fall({"1": 93, "2": 47, "4": 23, "8": 12, "16": 6, "32": 3})),
    Lesson("Misaligned reads", ["misaligned", "--over", "offset=0,1,2,4,8,16,32"],
           "direct reads, aligned vectors and a shift",
           "A misaligned warp reads five sectors instead of four.",
           slower("1", "0", 1.25, "an offset of one element")),
    Lesson("Random access and locality", ["gather", "--over", "order=permutation,below,local,sorted"],
           "direct reads, indices sorted in shared memory, windows that stay in the L2, vectors, prefetch into the L2",
           "Random access reaches 5 % of the rate of sequential access; locality restores the rate.",
           slower("permutation", "sorted", 20, "a random permutation, compared with sorted indices,")),
    Lesson("Vectors and loads in flight", ["vector_add", "--over", "n=67108864,268435456"],
           "1 to 8 elements per load, 1 to 8 loads in flight per thread",
           "Bandwidth needs bytes in flight: wide loads or several loads per thread, not one element.", elements_in_flight),
    Lesson("Array of structs, struct of arrays", ["aos_soa", "--over", "layout=aos,soa,tiles,packed,any"],
           "single elements, vectors, shared memory, shuffles",
           "A struct of arrays is 5.95 times as fast as an array of structs, and packed float4 is 17 times as fast.",
           slower("aos", "soa", 5.95, "an array of structs, compared with a struct of arrays,")),
    Lesson("Interleaved pixels", ["rgb", "--over", "layout=packed,padded"],
           "bytes, words and byte permutes, shared memory",
           "Planes are 8.1 times as fast as interleaved bytes.",
           gain("packed", 8.1, "the best split of pixels into planes")),
    Lesson("The order of loops", ["loop_order", "--over", "axis=rows,columns"],
           "a thread or a team of threads for each sum, tiles",
           "A loop order in which neighbouring threads read neighbouring addresses is the fastest.",
           gain("rows", 2, "the best sum of rows")),
    Lesson("Reuse in a matrix product", ["matmul", "--over", "m=1024,2048,4096"],
           "naive code, one or both operands in shared memory, register tiles",
           "Staging both operands in shared memory is 1.63 times as fast: the gain comes from reuse, not from coalescing.",
           gain("4096", 1.63, "the best product")),
    Lesson("A halo in two dimensions", ["conv2d", "--over", "size=3,5,7"],
           "direct reads, rows that march through registers, a tile with its halo; four sources of coefficients",
           "Each input is read once, so larger filters should take the same time.",
           slower("7", "3", 1, "a filter of 7 x 7, compared with 3 x 3,")),
    Lesson("Neighbours along a line", ["stencil1d", "--over", "radius=1,...,8"],
           "direct reads, windows of vectors, shuffles, a tile in shared memory",
           "A tile in shared memory is 2.3 times as fast on a GPU with small caches.",
           gain("3", 2.3, "the best stencil")),
    Lesson("Reductions", ["dot", "--over", "dtype=float,double"],
           "atomics, trees, shuffles, two passes",
           "A reduction without contended atomics is 24.6 times as fast.",
           gain("float", 24.6, "the best reduction")),
    Lesson("N-way bank conflicts", ["bank_conflict", "--over", "stride=0,1,2,4,...,32"],
           "accesses of 4, 8 and 16 bytes; padding, swizzle",
           "An N-way conflict takes N times as long. If all lanes read one word, the read is a broadcast and takes no extra time.",
           baseline_conflict),
    Lesson("Contended counters", ["histogram", "--over", "values=1,4,16,64,256"],
           "atomics on global and shared memory, private copies, merged runs",
           "Atomics on the same address wait for each other.",
           slower("1", "256", 1.1, "a single value, compared with 256 values,")),
    Lesson("Many small transposes", ["batched_transpose", "--over", "rows=32,64,128"],
           "a block transposes a tile of a matrix, or whole matrices", None, lambda points: None),
    Lesson("To the device and back", ["transfer", "--over", "direction=to_device,to_host,both"],
           "pageable, pinned, write-combined and mapped memory; staging buffers, chunks, streams",
           "Pinned memory is faster than pageable memory. The baseline is one copy of pageable memory.",
           wins("to_device", "the best copy to the device")),
    Lesson("Small and large transfers", ["transfer", "--over", "bytes=64K,1M,16M,256M,1G"],
           "as above", "Chunks on several streams pay if the data are large enough for several chunks.", lambda points: None),
    Lesson("One array or many", ["transfer", "--set", "bytes=16M", "--over", "pieces=1,64,1024,4096"],
           "a copy for each array, arrays that the host packs into a staging buffer, arrays that a kernel gathers",
           "One packed copy is faster than many small copies. The baseline copies each array.",
           wins("4096", "the best copy of 4096 arrays")),
    Lesson("Copies that overlap with a kernel", ["transfer", "--over", "rounds=0,16,64,256"],
           "as above, with a kernel that works on the data",
           "Overlap hides the time of the copies or the time of the kernel, whichever is shorter.",
           wins("64", "the best overlap")),
]


def ask(autotune, sweep):
    """Returns the curves of all GPUs that have a recorded point."""
    command = [autotune, "sweep", *sweep, "--recorded", "--json", "--results", os.path.join(SOURCE, "results")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return json.loads(done.stdout)["curves"]


def place(point):
    return ", ".join(point["at"].values())


def table(curve, out):
    measured = [p for p in curve["points"] if "config" in p]
    differ = [n for n in measured[0]["config"] if len({str(p["config"][n]) for p in measured}) > 1]
    common = [n for n in measured[0]["config"] if n not in differ]
    out.append(f"| {', '.join(curve['over'])} | time us | GB/s | of a copy | baseline GB/s | times as fast | winner |")
    out.append("|---|---|---|---|---|---|---|")
    for p in curve["points"]:
        if "config" not in p:
            out.append(f"| {place(p)} | not measured yet | | | | | |")
            continue
        best, base = share(p, "gbps"), p["baseline_gbps"]
        won = " ".join(f"`{n}={p['config'][n]}`" for n in differ)
        cells = [place(p), f"{p['time_ns'] / 1e3:.1f}", f"{p['gbps']:.0f}", percent(best) if best else "",
                 f"{base:.0f}" if base else "", f"{p['speedup']:.2f}" if p["speedup"] else "", won]
        out.append("| " + " | ".join(cells) + " |")
    out.append("")
    if common:
        out.append("All winners: " + " ".join(f"`{n}={measured[0]['config'][n]}`" for n in common) + ".")
        out.append("")


def findings(found):
    """Returns the sentences of [(device, sentence)]. Sentences that differ only in figures become one: "1.04 / 1.12 times"."""
    parts = [re.split(r"(\d+(?:\.\d+)?)", sentence) for _, sentence in found]
    if len(parts) < 2 or any(p[::2] != parts[0][::2] for p in parts):
        return [f"{device}: {sentence}" if len(found) > 1 else sentence for device, sentence in found]
    merged = [texts[0] if len(set(texts)) == 1 else " / ".join(texts) for texts in zip(*parts)]
    return [f"{' / '.join(device for device, _ in found)}: {''.join(merged)}"]


def section(autotune, lesson, out):
    over = " ".join(lesson.sweep)
    out += [f"## {lesson.title}", "", f"    autotune sweep {over}", "", f"Space: {lesson.space}.", ""]
    if lesson.note:
        out += [f"Note: {lesson.note}", ""]
    curves, found = ask(autotune, lesson.sweep), []
    if not curves:
        out += ["Not measured yet.", ""]
    for curve in curves:
        out += [f"**{curve['device']}**, {curve['cache']} cache", ""]
        table(curve, out)
        points = {place(p): p for p in curve["points"] if "config" in p}
        unknown = "The measurements so far do not show whether the note holds." if lesson.note else None
        found += [(curve["device"], sentence) for sentence in [lesson.find(points) or unknown] if sentence]
    for sentence in findings(found):
        out += [sentence, ""]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out = ["# Patterns and their measurements", "",
           "`docs/development/patterns.py build/release/bin/autotune` writes this page from the records in `results/`. The command of a",
           "section prints its figures if you add `--recorded`, and measures them again without it. Each *note* is a rule of",
           "thumb for other GPUs. Pairs of figures (1.04 / 1.12) are in the order of the tables. A copy moves the same bytes",
           "in the same run. The baseline is the script's default.",
           ""]
    for lesson in LESSONS:
        section(sys.argv[1], lesson, out)
    path = sys.argv[2] if len(sys.argv) == 3 else os.path.join(SOURCE, "docs", "development", "patterns.md")
    with open(path, "w") as to:
        to.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
