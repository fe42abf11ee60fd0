#!/usr/bin/env python3
"""Checks that expressions of T1 files have the values that Python gives them: python_expressions.py AUTOTUNE [SEED
[COUNT]]

Random expressions become the Values and the Conditions of a file, which autotune.t1 converts. 'autotune space' must
print the same values as Python, and the same number of points that each condition removes."""
import ast
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

MODULES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tuner", "python")
LONGEST, MOST_CONDITIONS = 300, 240

NAMES = {"a": [1, 2, 3, 16], "b": [-5, 0, 7], "f": [0.5, 2.0, -1.25], "p": [False, True], "s": ["tile", "naive"]}


class Refused(Exception):
    """A value that autotune does not support: an integer beyond 64 bits, infinity or NaN."""


def checked(v):
    if isinstance(v, int) and not -2**62 < v < 2**62 or isinstance(v, float) and not abs(v) < 2**50:
        raise Refused
    if isinstance(v, (complex, type(None))):
        raise Refused
    return v


def powered(a, b):
    if abs(b) > 64:
        raise Refused
    return a ** b


class Check(ast.NodeTransformer):
    """Wraps each operation of a syntax tree in a call of checked()."""

    def visit_UnaryOp(self, node):
        return ast.Call(ast.Name("checked", ast.Load()), [self.generic_visit(node)], [])

    visit_Call = visit_UnaryOp

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.Pow):
            node = ast.Call(ast.Name("powered", ast.Load()), [node.left, node.right], [])
        return self.visit_UnaryOp(node)


def compiled(text):
    tree = Check().visit(ast.parse(text, mode="eval"))
    return compile(ast.fix_missing_locations(tree), text, "eval")


def number(r):
    return r.choice(["0", "1", "2", "3", "7", "10", "0x1F", "1_000", "64", "0.5", "2.", "1e2", "True"])


def generate(r, depth, names, of):
    """Returns a random expression of the given kind: number ("n"), integer ("i"), boolean ("t") or list of numbers
    ("l")."""
    def sub(kind="n"):
        return generate(r, depth - 1, names, kind)
    if of == "l":
        if depth <= 0:
            return r.choice(["[1, 2, 3]", "(4, 2)", "range(4)", "[0.5, 2]"])
        return r.choice([
            lambda: f"[{sub()}, {sub()}]",
            lambda: f"({sub()},)",
            lambda: f"list(range({r.randint(-3, 3)}, {r.randint(0, 12)}{r.choice(['', ', 2', ', 3'])}))",
            lambda: f"{sub('l')} + {sub('l')}" if not names else sub("l"),
            lambda: f"[i * {number(r)} for i in {sub('l')} if i % 2 == {r.randint(0, 1)}]",
            lambda: f"[i + j for i in {sub('l')} for j in (0, {number(r)})]",
            lambda: f"sorted({sub('l')})" if not names else sub("l"),
        ])()
    if of == "t":
        if depth <= 0:
            return r.choice(["True", "False", "1 < 2"] + (["p", "not p", "s == 'tile'", "a > 2"] if names else []))
        return r.choice([
            lambda: f"{sub()} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {sub()}",
            lambda: f"{sub()} {r.choice(['<', '<=', '=='])} {sub()} {r.choice(['<', '>=', '!='])} {sub()}",
            lambda: f"{sub('t')} {r.choice(['and', 'or'])} {sub('t')}",
            lambda: f"not {sub('t')}",
            lambda: f"{sub()} {r.choice(['in', 'not in'])} {generate(r, 0, False, 'l')}",
            lambda: f"({sub('t')} if {sub('t')} else {sub('t')})",
            lambda: f"bool({sub()})",
            lambda: f"({sub('t')}) == ({sub('t')})",
            lambda: f"any({sub('l')})" if not names else sub("t"),
        ])()
    if of == "i":
        if depth <= 0:
            return r.choice(["0", "1", "3", "0x1F", "1_000"] + (list("aabb") if names else []))
        return r.choice([
            lambda: f"({sub('i')} {r.choice(['&', '|', '^', '+', '-', '*'])} {sub('i')})",
            lambda: f"(({sub('i')}) {r.choice(['<<', '>>'])} {r.randint(0, 5)})",
            lambda: f"~({sub('i')})",
            lambda: f"int({sub()})",
            lambda: f"({sub('i')} if {sub('t')} else {sub('i')})",
            lambda: "3 ** a" if names else "2 ** 5",
        ])()
    if depth <= 0:
        return r.choice([number(r)] + (list("aabbfp") if names else []))
    return r.choice([
        lambda: f"{sub()} {r.choice(['+', '-', '*', '/', '//', '%'])} {sub()}",
        lambda: f"({sub()}) {r.choice(['+', '-', '*', '//', '%'])} ({sub()})",
        lambda: f"{r.choice('23')} ** {sub()}",
        lambda: f"-{sub()}" if r.random() < 0.7 else f"+({sub()})",
        lambda: sub("i"),
        lambda: f"({sub()} if {sub('t')} else {sub()})",
        lambda: f"({sub()} {r.choice(['and', 'or'])} {sub()})",
        lambda: f"{r.choice(['min', 'max'])}({sub()}, {sub()}, {sub()})",
        lambda: f"{r.choice(['abs', 'int', 'float', 'math.floor', 'math.ceil'])}({sub()})",
        lambda: f"{r.choice(['len', 'sum', 'max'])}({sub('l')})" if not names else f"max({sub()}, 1)",
        lambda: f"{sub('l')}[{r.randint(-1, 1)}]" if not names else f"({sub()})",
        lambda: f"({sub('t')})",
    ])()


def value_of(code, names):
    with_functions = {"math": math, "checked": checked, "powered": powered, **names}
    return checked(eval(code, with_functions))  # eval() is safe: this program made the expression


def random_values(r, count):
    """Returns random expressions and their values."""
    made = []
    while len(made) < count:
        text = generate(r, r.randint(1, 4), False, r.choice("nntl"))
        try:
            v = value_of(compiled(text), {})
        except (Refused, ArithmeticError, TypeError, ValueError, IndexError):
            continue
        if isinstance(v, range):
            v = list(v)
        if isinstance(v, (list, tuple)):
            kinds = {type(one) for one in v}
            v = [one for n, one in enumerate(v) if one not in v[:n]] if len(v) == len(set(v)) else []
            if not v or bool in kinds or len(kinds) > 1 or any(not isinstance(o, (int, float)) for o in v):
                continue
        if len(text) < LONGEST:
            made.append((text, list(v) if isinstance(v, (list, tuple)) else [v]))
    return made


def random_conditions(r, count):
    """Returns random conditions and the number of points of the space that violate each."""
    made, points = [], [dict(zip(NAMES, one)) for one in itertools.product(*NAMES.values())]
    while len(made) < count:
        text = generate(r, r.randint(1, 4), True, r.choice("tttn"))
        code = compiled(text)
        try:
            broken = sum(not value_of(code, point) for point in points)
        except (Refused, ArithmeticError, TypeError, ValueError):
            continue
        if len(text) < LONGEST and broken < len(points):
            made.append((text, broken))
    return made


def spec(parameters, conditions):
    return {
        "General": {"BenchmarkName": "expressions"},
        "ConfigurationSpace": {
            "TuningParameters": [{"Name": n, "Type": "int", "Values": v} for n, v in parameters],
            "Conditions": [{"Parameters": list(NAMES) + ["which"], "Expression": c} for c in conditions],
        },
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "GlobalSize": {"X": "1"},
            "LocalSize": {"X": "32"}, "Arguments": [],
        },
    }


def space_of(autotune, folder, contents):
    path, script = os.path.join(folder, "spec.json"), os.path.join(folder, "spec.lua")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(contents, f, indent=1)
    with open(os.path.join(folder, "k.cu"), "w", encoding="utf-8") as f:
        f.write('extern "C" __global__ void k() {}\n')
    with open(script, "wb") as f:
        ran = subprocess.run([sys.executable, "-m", "autotune.t1", path], stdout=f, stderr=subprocess.PIPE, check=False,
                             env={**os.environ, "PYTHONPATH": MODULES})
    if ran.returncode != 0:
        sys.exit(f"{path}: {ran.stderr}")
    ran = subprocess.run([autotune, "space", script, "--arch", "sm_90", "--json"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"{path}: {ran.stderr}")
    return json.loads(ran.stdout)


def same(a, b):
    return type(a) is type(b) and (a == b or isinstance(a, float) and math.isclose(a, b, rel_tol=1e-14))


def main():
    autotune, seed, count = sys.argv[1], *map(int, (sys.argv[2:] + ["1", "100"][len(sys.argv) - 2:]))
    r, wrong = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        made = random_values(r, count)
        for first in range(0, len(made), 60):
            part = made[first:first + 60]
            printed = space_of(autotune, folder, spec([(f"p{i}", text) for i, (text, _) in enumerate(part)], []))
            for (text, expected), parameter in zip(part, printed["parameters"]):
                got = parameter["values"]
                if len(got) != len(expected) or not all(map(same, got, expected)):
                    wrong.append(f"{text}: {got}, and Python has {expected}")
        conditions = random_conditions(r, min(count, MOST_CONDITIONS))
        parameters = [("which", str(list(range(len(conditions)))))] + [(n, repr(v)) for n, v in NAMES.items()]
        printed = space_of(autotune, folder,
                           spec(parameters, [f"which != {i} or ({c})" for i, (c, _) in enumerate(conditions)]))
        for (text, expected), constraint in zip(conditions, printed["constraints"]):
            if constraint["removed"] != expected:
                wrong.append(f"{text}: removes {constraint['removed']}, and in Python {expected}: {constraint['text']}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
