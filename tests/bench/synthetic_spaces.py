"""Writes synthetic search spaces with a cost for every configuration, as T4 results.

Usage: synthetic_spaces.py FOLDER [SPACES_A_FAMILY]

The constants of the search strategies are set with these spaces, never with the measurements that judge the
strategies. Each family is an analytical model of a kind of GPU kernel (occupancy from registers and shared memory,
coalescing, reuse through tiles, bank conflicts, instruction overhead, waves) or a random landscape; a space is one
draw of the model's coefficients. Everything follows from the seeds.
"""

import itertools
import json
import math
import os
import random
import sys

WARP, THREADS_SM, BLOCKS_SM, REGISTERS_SM, SHARED_SM, SMS = 32, 2048, 32, 65536, 164 * 1024, 108


def occupancy(threads, registers, shared):
    """Returns resident blocks of an SM."""
    warps = math.ceil(threads / WARP)
    blocks = min(BLOCKS_SM, THREADS_SM // (warps * WARP),
                 REGISTERS_SM // (max(16, registers) * warps * WARP))
    if shared:
        blocks = min(blocks, SHARED_SM // shared)
    return blocks


def waves(blocks, resident):
    """Returns the slowdown by a last wave that is not full."""
    per_wave = SMS * resident
    return math.ceil(blocks / per_wave) * per_wave / blocks


class Tiled:
    """Stencils and convolutions: a block of threads, a tile for each thread, optional staging."""

    def __init__(self, r):
        self.parameters = {
            "block_x": r.choice([[16, 32, 64, 128, 256], list(range(16, 257, 16)),
                                 list(range(32, 257, 32))]),
            "block_y": r.choice([[1, 2, 4, 8, 16], [1, 2, 3, 4, 6, 8, 12, 16]]),
            "tile_x": list(range(1, r.choice([4, 5, 8]) + 1)),
            "tile_y": list(range(1, r.choice([4, 6]) + 1)),
            "vector": [1, 2, 4],
            "staged": [0, 1],
            "padded": [0, 1],
            "unroll": r.choice([[0, 1], [1, 2, 4, 8]]),
        }
        self.radius = r.choice([0, 1, 2, 4, 8])
        self.work = r.uniform(2, 40) * (2 * self.radius + 1)
        self.base, self.each = r.uniform(18, 36), r.uniform(1.5, 5)
        self.hide = r.uniform(6, 40)
        self.conflict = r.uniform(0.1, 1.0)
        self.bandwidth = r.uniform(0.3, 3)
        self.unrolled = r.uniform(0.05, 0.35)

    def valid(self, c):
        shared = self.shared(c)
        return (32 <= c["block_x"] * c["block_y"] <= 1024 and shared <= 48 * 1024 and
                (c["staged"] or not c["padded"]) and c["tile_x"] % min(c["vector"], 4) == 0 or
                (c["vector"] == 1 and 32 <= c["block_x"] * c["block_y"] <= 1024 and
                 shared <= 48 * 1024 and (c["staged"] or not c["padded"])))

    def shared(self, c):
        if not c["staged"]:
            return 0
        width = c["block_x"] * c["tile_x"] + 2 * self.radius + c["padded"]
        return 4 * width * (c["block_y"] * c["tile_y"] + 2 * self.radius)

    def cost(self, c):
        threads = c["block_x"] * c["block_y"]
        items = c["tile_x"] * c["tile_y"]
        registers = self.base + self.each * items + 1.5 * c["unroll"] + 2 * c["vector"]
        resident = occupancy(threads, int(registers), self.shared(c))
        if resident == 0:
            return None
        spill = 1 + max(0, registers - 168) / 40
        active = resident * math.ceil(threads / WARP) * WARP / THREADS_SM
        parallel = active * (1 + 0.5 * math.log2(items)) * math.sqrt(c["vector"])
        hidden = 1 - math.exp(-parallel * self.hide / 8)
        lanes = threads / (math.ceil(threads / WARP) * WARP)
        segment = min(1, c["block_x"] * c["vector"] * 4 / 128)
        aligned = 1 if c["block_x"] % 32 == 0 else 0.85
        halo = 2 * self.radius
        wide, high = c["block_x"] * c["tile_x"], c["block_y"] * c["tile_y"]
        reuse = (wide + halo) * (high + halo) / (wide * high)
        if not c["staged"]:
            reuse = 1 + (reuse - 1) * 1.6 + 0.02 * halo
        memory = reuse / (segment * aligned * hidden * self.bandwidth)
        conflict = 1 + self.conflict * (c["staged"] and not c["padded"] and
                                        c["block_x"] * c["tile_x"] % 32 == 0)
        loop = 1 + self.unrolled / max(1, c["unroll"])
        compute = self.work / 20 * (1 + 1.2 / items) * conflict * loop * spill / (lanes * hidden)
        blocks = max(1, 4096 * 4096 // (wide * high))
        return (max(memory, compute) + 0.25 * min(memory, compute)) * waves(blocks, resident)


class Multiply:
    """Blocked matrix products."""

    def __init__(self, r):
        self.parameters = {
            "m": [16, 32, 64, 128], "n": [16, 32, 64, 128], "k": [8, 16, 32],
            "threads_m": [8, 16, 32], "threads_n": [8, 16, 32],
            "vector_m": [1, 2, 4, 8], "vector_n": [1, 2, 4], "cache_a": [0, 1], "cache_b": [0, 1],
        }
        self.base = r.uniform(20, 40)
        self.hide = r.uniform(2, 12)
        self.balance = r.uniform(4, 60)
        self.step = r.uniform(0.5, 6)
        self.liking = {n: r.uniform(-0.12, 0.12) for n in ("vector_m", "vector_n")}

    def valid(self, c):
        return (c["m"] % (c["threads_m"] * c["vector_m"]) == 0 and
                c["n"] % (c["threads_n"] * c["vector_n"]) == 0 and
                c["k"] * c["m"] % (c["threads_m"] * c["threads_n"]) == 0 and
                c["k"] * c["n"] % (c["threads_m"] * c["threads_n"]) == 0)

    def cost(self, c):
        threads = c["threads_m"] * c["threads_n"]
        each_m, each_n = c["m"] // c["threads_m"], c["n"] // c["threads_n"]
        registers = self.base + each_m * each_n + each_m + each_n
        if registers > 500:
            return None
        shared = 4 * c["k"] * (c["cache_a"] * c["m"] + c["cache_b"] * c["n"])
        resident = occupancy(threads, min(255, int(registers)), shared)
        if resident == 0:
            return None
        active = resident * threads / THREADS_SM
        hidden = 1 - math.exp(-active * self.hide * (1 + 0.3 * math.log2(each_m * each_n)))
        compute = (1 + 1.5 / each_m + 1.5 / each_n + self.step / c["k"] / 4) / hidden
        compute *= 1 + max(0, registers - 250) / 60
        traffic = (1 if c["cache_a"] else 1.9) / c["n"] + (1 if c["cache_b"] else 1.7) / c["m"]
        memory = self.balance * traffic / min(1, 0.4 + 0.2 * c["vector_m"]) / hidden
        liking = sum(w * math.log2(c[n]) for n, w in self.liking.items())
        blocks = 2048 * 2048 // (c["m"] * c["n"])
        return (max(memory, compute) + 0.3 * min(memory, compute)) * (1 + 0.2 * liking ** 2) * \
            math.sqrt(waves(blocks, resident))


class Rugged:
    """Random landscapes: effects of single values, of pairs, and separate noise at each point."""

    def __init__(self, r):
        count = r.randint(5, 9)
        self.parameters = {}
        while math.prod(len(v) for v in self.parameters.values()) < 6000 and \
                len(self.parameters) < count:
            values = r.choice([[0, 1], [1, 2, 4], [1, 2, 4, 8], [1, 2, 3, 4, 5, 6],
                               list(range(8, 65, 8)), [0, 1, 2]])
            self.parameters["p%d" % len(self.parameters)] = values
        names = list(self.parameters)
        self.single = {n: self.smooth(r, len(self.parameters[n]), r.uniform(0.05, 0.5))
                       for n in names}
        self.pairs = []
        for a, b in itertools.combinations(names, 2):
            if r.random() < 0.4:
                amount = r.uniform(0.02, 0.3)
                table = [[r.gauss(0, amount) for _ in self.parameters[b]]
                         for _ in self.parameters[a]]
                self.pairs.append((a, b, table))
        self.removed = [(a, b, r.randrange(64)) for a, b in
                        r.sample(list(itertools.combinations(names, 2)), 2)]
        self.broken = r.choice(names), r.choice(names)
        self.breaks = r.random() < 0.5

    @staticmethod
    def smooth(r, count, amount):
        walk = [0]
        for _ in range(count - 1):
            walk.append(walk[-1] + r.gauss(0, amount))
        return walk

    def place(self, c, n):
        return self.parameters[n].index(c[n])

    def valid(self, c):
        return all((self.place(c, a) * 7 + self.place(c, b) * 5 + salt) % 4 != 0
                   for a, b, salt in self.removed)

    def cost(self, c):
        a, b = self.broken
        if self.breaks and self.place(c, a) + self.place(c, b) >= \
                len(self.parameters[a]) + len(self.parameters[b]) - 3:
            return None
        effect = sum(t[self.place(c, n)] for n, t in self.single.items())
        effect += sum(t[self.place(c, a)][self.place(c, b)] for a, b, t in self.pairs)
        return math.exp(effect)


class Quirks:
    """Effects that no simple model explains: the compiler's scheduling, partitions, alignment. Each combination of
    values of a few parameters has its own factor, which is sometimes large."""

    def __init__(self, r, parameters):
        self.salt = r.getrandbits(64)
        names = [n for n, v in parameters.items() if len(v) > 1]
        self.groups = []
        for _ in range(r.randint(2, 4)):
            group = r.sample(names, min(len(names), r.choice([1, 2, 2, 3])))
            self.groups.append((sorted(group), r.choice([0.01, 0.03, 0.06, 0.1])))

    def factor(self, c):
        effect = 0
        for number, (group, amount) in enumerate(self.groups):
            r = random.Random("%d %d %s" % (self.salt, number, [c[n] for n in group]))
            effect += abs(r.gauss(0, amount)) * (3 if r.random() < 0.1 else 1)
        return math.exp(effect)


def make(family, seed):
    r = random.Random("%s %d" % (family.__name__, seed))
    model = family(r)
    quirks = Quirks(r, model.parameters)
    roughness = r.choice([0.002, 0.005, 0.02])
    names = list(model.parameters)
    results = []
    for values in itertools.product(*model.parameters.values()):
        c = dict(zip(names, values))
        if not model.valid(c):
            continue
        cost = model.cost(c)
        compile_ms = 400 + 300 * r.random() + 60 * sum(isinstance(v, int) and v > 2 for v in values)
        ok = cost is not None
        if ok:
            cost *= quirks.factor(c) * math.exp(r.gauss(0, roughness)) * (1.3 if r.random() < 0.01 else 1)
        results.append({
            "configuration": c,
            "times": {"compilation": compile_ms, "validation": 0, "framework": 0,
                      "search_algorithm": 0, "runtimes": [cost] * 10 if ok else []},
            "invalidity": "correct" if ok else "runtime", "correctness": int(ok),
            "measurements": [{"name": "time", "value": cost if ok else "failed", "unit": "ms"}],
            "objectives": ["time"]})
    return {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"},
            "results": results}


def main():
    folder = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.makedirs(folder, exist_ok=True)
    for family in (Tiled, Multiply, Rugged):
        for seed in range(count):
            path = os.path.join(folder, "%s_%d.json" % (family.__name__.lower(), seed))
            document = make(family, seed)
            with open(path, "w") as file:
                json.dump(document, file)
            works = [r["measurements"][0]["value"] for r in document["results"]
                     if r["correctness"]]
            works.sort()
            print("%s: %d configurations, %d work, median/best %.2f" %
                  (path, len(document["results"]), len(works), works[len(works) // 2] / works[0]))


main()
