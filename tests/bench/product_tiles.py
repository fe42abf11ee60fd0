#!/usr/bin/env python3
"""Which tiles should fit a product, and what do they take? What the table `fitting` of lua/matmul.lua was made by:

  tests/bench/product_tiles.py time PROGRAM FILE [--problems N] [--seconds S] [--seed N] [--device cuda:0]
  tests/bench/product_tiles.py judge FILE...
  tests/bench/product_tiles.py fit FILE... [--tiles N]

`time` draws products of all kinds, as portfolio.py, but others, and races on each the tiles of the table and CANDIDATES,
with the numbers of parts whose estimate is near the least, one product at a time. `judge` says how much slower what the
table chooses is than the fastest of all. `fit` fits what each tile takes to the times, and prints the table anew: of its
tiles, or of N that are chosen one by one, each the one that lowers the loss most where numbers are fitted to four fifths
of the products and tried on the others. What is lost so goes to stderr. It needs scipy.
"""
import argparse
import gzip
import json
import math
import os
import random
import re
import sys
import time

from choices import time_all, write_script
from portfolio import PATTERNS, draw_all, percentile
from slices import read as read_json

KINDS = ("any", "prime", "square", "tall", "any", "flat", "any", "power of two")
SLOW = 0.04
FOLDS = 5
MOST_PARTS = 8
NEAR_TABLE, NEAR_CANDIDATES, PARTS_TIMED = 1.12, 1.2, 3 # what is timed: of the least estimate; of each tile

# What a GPU has, as it is on an H100 and an H200; and how clusters find room there (tuner/device/cluster_load.c).
SM_COUNT, REGISTERS, SHARED, MOST_SHARED = 132, 65536, 228 << 10, 227 << 10
GPC, LARGE, LARGES, PAIRS = 16, 18, 2, 4

# Tiles beside those of the table: lines, columns and depth, own lines and columns, registers, staging and copies, layout.
# All have unroll == depth, but those of two copies and 128 lines, which unroll 4.
CANDIDATES = """
16x128x16 4x8 96 async3 columns
16x64x32 4x4 64 async3 columns
32x32x32 4x4 64 async3 columns
32x64x16 4x8 96 async3 columns
32x64x16 8x4 112 async3 rows
32x64x32 4x8 96 async2 columns
32x128x16 8x4 112 async3 rows
32x256x16 8x8 168 async3 columns
64x32x16 8x4 96 async3 rows
64x64x8 8x4 96 async4 columns
64x64x8 8x4 112 async4 rows
64x64x16 4x8 96 async3 columns
64x64x32 8x8 168 async2 columns
64x128x16 8x8 168 async3 columns
64x256x16 8x8 128 async2 columns
128x32x16 8x4 96 async3 rows
128x64x8 8x8 168 async4 columns
128x64x16 8x8 168 registers2 columns
128x128x8 8x8 128 async4 columns
128x128x16 8x16 255 registers2 columns
256x64x16 8x8 128 async2 columns
"""

TABLE = re.compile(r"(^local fitting = \{\n)(.*?)(^\}\n)", re.S | re.M)

# Which tile fits, and how many blocks share one, is a parameter.
DERIVE = """for name in pairs(p.derived) do
      if name:find "^fit_%d" then p.derived[name] = nil end
    end
    p.derived.fit_time = 'choice'"""

NUMBERS = ("start", "share", "wait", "add", "least", "gather", "meet", "scatter")


def ceil_div(a, b):
    return -(-a // b)


class Tile:
    """One of the table, with its numbers, or a candidate, which has none."""

    def __init__(self, fields):
        self.__dict__.update(fields)
        self.threads = self.lines // self.own_lines * (self.columns // self.own_columns)
        tile_a = self.lines * (self.depth + 4) if self.layout == "rows" else self.depth * (self.lines + 4)
        stages = 4 * self.copies * (tile_a + self.depth * self.columns)
        by_registers = REGISTERS // (self.threads * self.registers)
        self.resident = max(1, min(by_registers, SHARED // (stages + 1024)))
        self.tile_bytes = 4 * self.lines * self.columns
        self.resident_sharing = max(1, min(by_registers, SHARED // (max(stages, self.tile_bytes) + 1024)))
        self.a_by_vectors = self.layout == "rows" or self.staging == "registers"
        self.name = "%dx%dx%d %dx%d %d %s%d u%d %s" % (
            self.lines, self.columns, self.depth, self.own_lines, self.own_columns, self.registers, self.staging,
            self.copies, self.unroll, self.layout)
        self.known = "start" in fields

    def tiles(self, p):
        return ceil_div(p["m"], self.lines) * ceil_div(p["n"], self.columns)

    def parts(self, p):
        """Blocks that can share a tile of c."""
        if self.tiles(p) > 8 * SM_COUNT * self.resident_sharing or self.tile_bytes > min(MOST_SHARED, SHARED - 1024):
            return [1]
        return range(1, min(MOST_PARTS, ceil_div(p["k"], self.depth)) + 1)

    def features(self, p, parts):
        """What the estimate of a product has: full rounds, turns of four warps of such a round and of the last one, blocks,
        tiles along k, parts, whether b and a can be copied in quads (0), pairs (1) or not (2), and whether no tile of c is
        cut."""
        tiles_k = ceil_div(p["k"], self.depth)
        load = cluster_load(self.tiles(p), parts, self.resident)
        full, last = divmod(load - 1, self.resident)
        along_k = tiles_k if parts == 1 else (parts * ceil_div(tiles_k, parts) + tiles_k) / (2 * parts)
        def vectors(length):
            return 0 if length % 4 == 0 else 1 if length % 2 == 0 else 2
        warps = self.threads // 32
        return [full, ceil_div(self.resident * warps, 4), ceil_div((last + 1) * warps, 4), load, along_k, parts,
                vectors(p["n"]), vectors(p["k"]) if self.a_by_vectors else 2,
                p["m"] % self.lines == 0 and p["n"] % self.columns == 0]

    def estimate(self, p, parts):
        """In tenths of a nanosecond, by the table's numbers."""
        full, turns, last, load, along_k, _, b, a, whole = self.features(p, parts)
        left = (self.quads_b, self.pairs_b, 1000)[b] / 1000
        if self.a_by_vectors:
            left *= (self.quads_a, self.pairs_a, 1000)[a] / 1000
        if whole:
            left *= self.uncut / 1000
        each = full * max(self.least, self.wait + self.add * turns) + max(self.least, self.wait + self.add * last)
        end = self.gather + self.meet * parts if parts > 1 else 0 if b == 0 else self.scatter
        return self.start + (self.share if parts > 1 else 0) + along_k * each * left + load * end

    def rough(self, p, parts):
        """Any tile's, as lua/matmul.lua has it for those that are not in the table; its unit is another."""
        most = ceil_div(ceil_div(p["k"], self.depth), parts)
        load = cluster_load(self.tiles(p), parts, self.resident_sharing)
        area = self.lines * self.columns
        wait = self.depth * (4096 if self.staging == "async" else 6144)
        add = self.depth * (area + 24 * self.lines + 12 * self.columns) * 128 // self.threads
        end = 32 * area if parts > 1 else 0 if p["n"] % 4 == 0 else 256 * area
        return (most * wait * ceil_div(load, self.resident_sharing) + most * add * ceil_div(load * (self.threads // 32), 4)
                + load * end)


def slots(blocks, each):
    if blocks <= 2:
        return SM_COUNT * each // blocks
    full, left = divmod(SM_COUNT - LARGES * LARGE - 2 * PAIRS, GPC)
    return (LARGES * (LARGE * each // blocks) + full * (GPC * each // blocks) + left * each // blocks
            + PAIRS * (2 * each // blocks))


def cluster_load(clusters, blocks, resident):
    """Blocks of the multiprocessor with most; see tuner/device/cluster_load.h."""
    most = slots(blocks, resident)
    if most == 0:
        return resident * clusters * blocks
    rounds = (clusters - 1) // most
    last = 1
    while slots(blocks, last) < clusters - rounds * most:
        last += 1
    return rounds * resident + last


def script_text():
    return open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../lua/matmul.lua")).read()


def table():
    """The tiles of the script's table."""
    body = TABLE.search(script_text()).group(2)
    return [Tile({name: value.strip('"') if value[0] == '"' else int(value)
                  for name, value in re.findall(r"(\w+) = (\"\w+\"|-?\d+)", entry)})
            for entry in re.findall(r"\{([^{}]*)\}", body)]


def candidates():
    tiles = []
    for line in CANDIDATES.strip().splitlines():
        size, own, registers, staged, layout = line.split()
        staging, copies = re.match(r"([a-z]+)(\d)", staged).groups()
        (lines, columns, depth), (own_lines, own_columns) = (map(int, text.split("x")) for text in (size, own))
        tiles.append(Tile({
            "lines": lines, "columns": columns, "depth": depth, "own_lines": own_lines, "own_columns": own_columns,
            "registers": int(registers), "staging": staging, "copies": int(copies), "layout": layout,
            "unroll": 4 if staging == "async" and copies == "2" and lines >= 128 else depth}))
    return tiles


def entry_of(tile, numbers):
    """As the table has it."""
    pairs = "pairs_a = %(pairs_a)d, quads_a = %(quads_a)d, " % numbers if tile.a_by_vectors else ""
    return """  {
    lines = %d, columns = %d, depth = %d, own_lines = %d, own_columns = %d, registers = %d,
    staging = "%s", copies = %d, unroll = %d, layout = "%s",
    %spairs_b = %d, quads_b = %d, uncut = %d,
    %s,
  },
""" % (tile.lines, tile.columns, tile.depth, tile.own_lines, tile.own_columns, tile.registers, tile.staging, tile.copies,
       tile.unroll, tile.layout, pairs, numbers["pairs_b"], numbers["quads_b"], numbers["uncut"],
       ",\n    ".join(", ".join("%s = %d" % (name, numbers[name]) for name in part) for part in (NUMBERS[:5], NUMBERS[5:])))


def worth_timing(tiles, p):
    """[(tile, parts)] whose estimates are near the least."""
    found = []
    for known, near in ((True, NEAR_TABLE), (False, NEAR_CANDIDATES)):
        ranked = {i: sorted((t.estimate(p, q) if known else t.rough(p, q), q) for q in t.parts(p))
                  for i, t in enumerate(tiles) if t.known == known}
        # Tiles of the table take part in the rough estimate's least, so that candidates must come near them.
        least = min(of[0][0] for of in ranked.values()) if known else min(
            t.rough(p, q) for t in tiles for q in t.parts(p))
        found += [(i, q) for i, of in ranked.items() for value, q in of[:PARTS_TIMED]
                  if value <= near * least and value <= NEAR_TABLE * of[0][0]]
    return found


def time_products(args):
    tiles = table()
    tiles += [c for c in candidates() if c.name not in {t.name for t in tiles}]
    none = dict.fromkeys(NUMBERS + ("pairs_a", "pairs_b", "quads_a", "quads_b", "uncut"), 1)
    added = "".join(entry_of(t, none) for t in tiles if not t.known)
    text = TABLE.sub(lambda m: m.group(1) + m.group(2) + added + m.group(3), script_text())
    script = write_script(os.path.splitext(os.path.abspath(args.file).removesuffix(".gz"))[0] + ".lua",
                          range(MOST_PARTS * len(tiles)), DERIVE, text)
    problems = draw_all("product tiles %d" % args.seed, KINDS, PATTERNS["matmul"], args.problems)
    end_s, rows, device, count = time.monotonic() + args.seconds, [], "", 0
    for p in problems:
        if time.monotonic() > end_s:
            break
        choices = [(q - 1) * len(tiles) + i for i, q in worth_timing(tiles, p)]
        found = time_all(args, script, p, ["algorithm=fit", "choice=%s" % ",".join(map(str, choices))],
                         ["--finals", str(args.blocks)])
        if isinstance(found, str):
            print("%s: %s" % (p, found.splitlines()[-1]), file=sys.stderr)
            continue
        device, times = found[0], {}
        for c, ns in found[1]:
            times.setdefault(tiles[c["choice"] % len(tiles)].name, {})[c["choice"] // len(tiles) + 1] = ns
        count += len(found[1])
        rows.append(json.dumps({"problem": p, "times_ns": times}))
    if not rows:
        print("nothing was timed", file=sys.stderr)
        return 1
    with (gzip.open if args.file.endswith(".gz") else open)(args.file, "wt") as to:
        to.write('{\n "pattern": "matmul", "gpu": %s,\n "problems": [\n  %s\n ]\n}\n' % (json.dumps(device), ",\n  ".join(rows)))
    print("%d times of %d products on %s" % (count, len(rows), device))
    return 0


def read(files):
    """[(problem, {(tile's name, parts): ns})]"""
    return [(one["problem"], {(name, int(q)): ns for name, of in one["times_ns"].items() for q, ns in of.items()})
            for path in files for one in read_json(path)["problems"]]


def said(losses):
    return "mean %.2f %%, 95th percentile %.1f %%, %d of %d above %.0f %%, worst %.1f %%" % (
        100 * sum(losses) / len(losses), 100 * percentile(losses, 0.95), sum(l > SLOW for l in losses), len(losses),
        100 * SLOW, 100 * max(losses))


def judge(args):
    tiles, chosen, of_tiles, untimed = table(), [], [], 0
    for p, times in read(args.files):
        least = min(times.values())
        timed = [(t.estimate(p, q), times[t.name, q]) for t in tiles for q in t.parts(p) if (t.name, q) in times]
        if not timed or min(timed)[0] > min(t.estimate(p, q) for t in tiles for q in t.parts(p)):
            untimed += 1
            continue
        chosen.append(min(timed)[1] / least - 1)
        of_tiles.append(min(ns for _, ns in timed) / least - 1)
    if not chosen:
        print("nothing that the table chooses was timed", file=sys.stderr)
        return 1
    print("chosen      %s" % said(chosen))
    print("table       %s: the best of its tiles" % said(of_tiles))
    if untimed:
        print("on %d products what the table chooses was not timed" % untimed)
    return 0


class Fit:
    """What each tile takes, fitted to times. Its numbers are logarithms of start, wait, add, gather and scatter; share and
    meet as shares of start and gather; and logarithms of least, and of what is left of pairs and quads of b and of a, and
    where no tile of c is cut."""

    ERROR = 0.03 # of the logarithm of a time
    # By how much each may differ from what is expected of a tile that was not timed.
    SPREAD = (0.45, 0.75, 0.38, 0.9, 1.2, 0.22, 0.08, 0.45, 0.09, 0.09, 0.09, 0.09, 0.08)

    def __init__(self, tiles, rows):
        import numpy
        from scipy.optimize import least_squares
        self.numpy, self.least_squares, self.tiles = numpy, least_squares, tiles
        self.data = {name: [] for name in tiles}
        for j, (p, times) in enumerate(rows):
            least = min(times.values())
            for (name, q), ns in times.items():
                self.data[name].append((j, q, 10.0 * ns, ns / least - 1, tiles[name].features(p, q)))

    def expected(self, t):
        """By what the tiles of an earlier table took: 64x64x16 with 128 threads waits for 180 ns, adds for 458 ns."""
        area = t.lines * t.columns
        share = area / 4096
        wait = 1800 * t.depth / 16 * share ** 0.5
        add = 4584 * t.depth * (area + 24 * t.lines + 12 * t.columns) * 128 / t.threads / (16 * (4096 + 36 * 64))
        log = math.log
        return [log(22000), log(wait), log(add), log(3000 * share + 200), log(9000 * share ** 1.3), 0.1, 0, log(wait + add),
                -0.08, -0.14, -0.08, -0.14, -0.05]

    def model(self, x, features):
        np = self.numpy
        full, turns, last, load, along_k, parts, b, a, whole = features.T
        start, wait, add, gather, scatter = np.exp(x[:5])
        least = np.exp(x[7])
        left = np.exp(np.select([b == 0, b == 1], [x[9], x[8]], 0) + np.select([a == 0, a == 1], [x[11], x[10]], 0)
                      + whole * x[12])
        each = full * np.maximum(least, wait + add * turns) + np.maximum(least, wait + add * last)
        end = np.where(parts == 1, np.where(b == 0, 0, scatter), gather + x[6] * gather * parts)
        return np.maximum(1, start * np.where(parts > 1, 1 + x[5], 1) + along_k * each * left + load * end)

    def fit(self, name, rows):
        """Times of rows count the less the slower they are: it is among the fastest that a choice is made."""
        np, expected = self.numpy, np_array(self.numpy, self.expected(self.tiles[name]))
        data = [d for d in self.data[name] if d[0] in rows]
        if not data:
            return expected
        features, times = np_array(np, [d[4] for d in data]), np.log([d[2] for d in data])
        weights = np.exp(-np_array(np, [d[3] for d in data])) / self.ERROR
        return self.least_squares(
            lambda x: np.concatenate([weights * (np.log(self.model(x, features)) - times), (x - expected) / self.SPREAD]),
            expected, loss="soft_l1", max_nfev=60).x

    def numbers(self, name, rows):
        """As the table has them."""
        x = self.fit(name, rows)
        start, wait, add, gather, scatter = self.numpy.exp(x[:5])
        values = {"start": start, "share": x[5] * start, "wait": wait, "add": add, "least": math.exp(x[7]), "gather": gather,
                  "meet": x[6] * gather, "scatter": scatter}
        values.update((of, 1000 * math.exp(v)) for of, v in zip(
            ("pairs_b", "quads_b", "pairs_a", "quads_a", "uncut"), x[8:]))
        return {of: round(float(v)) for of, v in values.items()}

    def predicted(self, sets):
        """{(row, tile, parts): estimate} of each second set's rows, fitted to the first's."""
        found = {}
        for train, test in sets:
            for name in self.tiles:
                data = [d for d in self.data[name] if d[0] in test]
                if data:
                    values = self.model(self.fit(name, train), np_array(self.numpy, [d[4] for d in data]))
                    found.update(((d[0], name, d[1]), v) for d, v in zip(data, values))
        return found


def np_array(numpy, values):
    return numpy.array(values, float)


def losses_of(names, predicted, rows):
    """Of what is chosen among these tiles; ten times, where none of them was timed."""
    losses = []
    for j, (_, times) in enumerate(rows):
        mine = min(((predicted[j, name, q], ns) for (name, q), ns in times.items() if name in names), default=None)
        losses.append(mine[1] / min(times.values()) - 1 if mine else 9.0)
    return losses


def cost_of(losses):
    """The mean, and half as much again of what is above 3 %; one that is far slower counts no more than 30 %."""
    return sum(min(l, 0.3) + max(0, min(l, 0.3) - 0.03) / 2 for l in losses)


def fit(args):
    rows, all_tiles = read(args.files), {t.name: t for t in table() + candidates()}
    named = {name for _, times in rows for name, _ in times}
    tiles = {name: t for name, t in all_tiles.items() if name in named}
    rows = [(p, {key: ns for key, ns in times.items() if key[0] in tiles}) for p, times in rows]
    fitted, everyone = Fit(tiles, rows), set(range(len(rows)))
    order = sorted(everyone)
    random.Random(1).shuffle(order)
    folds = [set(order[k::FOLDS]) for k in range(FOLDS)]
    predicted = fitted.predicted([(everyone - fold, fold) for fold in folds])
    chosen = []
    while len(chosen) < min(args.tiles, len(tiles)):
        chosen.append(min((n for n in tiles if n not in chosen),
                          key=lambda n: cost_of(losses_of({*chosen, n}, predicted, rows))))
        print("%2d %-42s %s" % (len(chosen), chosen[-1], said(losses_of(set(chosen), predicted, rows))), file=sys.stderr)
    print("all %d tiles: %s" % (len(tiles), said(losses_of(set(tiles), predicted, rows))), file=sys.stderr)
    in_table = {t.name for t in table()} & set(tiles)
    print("those of the table, %d: %s" % (len(in_table), said(losses_of(in_table, predicted, rows))), file=sys.stderr)
    for name in sorted((n for n in tiles if n in (chosen or in_table)),
                       key=lambda n: (tiles[n].lines * tiles[n].columns, tiles[n].lines, tiles[n].depth)):
        print(entry_of(tiles[name], fitted.numbers(name, everyone)), end="")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("time")
    one.add_argument("program")
    one.add_argument("file")
    one.add_argument("--problems", type=int, default=150)
    one.add_argument("--seconds", type=float, default=300, help="after which no further product is begun (default 300)")
    one.add_argument("--seed", type=int, default=1, help="of the products (default 1)")
    one.add_argument("--blocks", type=int, default=15, help="of each race's finals (default 15)")
    one.add_argument("--device", type=lambda name: ["--device", name], default=["--device", "cuda:0"])
    one.set_defaults(run=time_products)
    for name, run in (("judge", judge), ("fit", fit)):
        one = commands.add_parser(name)
        one.add_argument("files", nargs="+")
        one.set_defaults(run=run)
    one.add_argument("--tiles", type=int, default=0, help="to choose (default: none, those of the table are fitted)")
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
