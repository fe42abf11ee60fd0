"""Python expressions of T1 files: evaluates them, and translates them to the Lua of autotune's scripts."""
from __future__ import annotations

import ast
import difflib
import math
import re
from typing import Any, Iterable

Text = tuple[str, str]  # a Lua expression, and its type: "whole", "number", "truth" or "text"


def meant(name: Any, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def quoted(text: str, quote: str = '"') -> str:
    return quote + re.sub(r"[\\\x00-\x1f%s]" % quote, lambda m: "\\%03d" % ord(m[0]), text) + quote


def literal(value: Any, quote: str = "'") -> Text:
    """Returns a value in Lua, and its type."""
    if isinstance(value, bool):
        return str(value).lower(), "truth"
    if isinstance(value, str):
        return quoted(value, quote), "text"
    if not isinstance(value, (int, float)) or value in (math.inf, -math.inf) or value != value:
        raise ValueError(f"{value!r} cannot be a value in a script: use numbers, booleans and texts")
    if isinstance(value, int) and not -2**63 < value < 2**63:
        raise ValueError(f"{value} does not fit in 64 bits")
    return f"({value!r})" if value < 0 else repr(value), "whole" if isinstance(value, int) else "number"


def bare(text: Any) -> Any:
    """Returns the expression without the brackets around the whole expression."""
    depth, inner = 0, str(text)[1:-1]
    for c in inner:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return text
    return inner if str(text)[:1] == "(" else text


FUNCTIONS = {"abs": abs, "all": all, "any": any, "bool": bool, "float": float, "int": int, "len": len, "list": list,
             "max": max, "min": min, "pow": pow, "range": range, "round": round, "sorted": sorted, "sum": sum,
             "tuple": tuple, "ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt, "log2": math.log2}
NODES = (ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Store, ast.List, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.BoolOp,
         ast.Compare, ast.IfExp, ast.Call, ast.Subscript, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.operator,
         ast.unaryop, ast.boolop, ast.cmpop)
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Mod: "%", ast.Div: "/", ast.FloorDiv: "//", ast.Pow: "^"}
BITS = {ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "~", ast.LShift: "<<", ast.RShift: ">>"}
OF_TRUTHS = {ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "~="}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "~=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class Plain(ast.NodeTransformer):
    """Replaces math.ceil by ceil, and ProblemSize[0] by the problem's variable."""

    def __init__(self, sizes: list[str], is_list: bool) -> None:
        self.sizes, self.is_list = sizes, is_list

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        known = isinstance(node.value, ast.Name) and node.value.id in ("math", "np", "numpy") and node.attr in FUNCTIONS
        if not known:
            raise ValueError(f".{node.attr} is not known here")
        return ast.Name(node.attr, ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_size = node.id == "ProblemSize" and self.sizes and not self.is_list
        return ast.Name(self.sizes[0], ast.Load()) if is_size else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "ProblemSize" and isinstance(node.slice, ast.Constant):
            if node.slice.value not in range(len(self.sizes)):
                raise ValueError(f"ProblemSize has no item {node.slice.value}")
            return ast.Name(self.sizes[node.slice.value], ast.Load())
        return self.generic_visit(node)


class Expression:
    """A Python expression of the T1 file. Its evaluation calls only functions of FUNCTIONS."""

    def __init__(self, text: str, known: Iterable[str], sizes: list[str] = [], is_list: bool = True) -> None:
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except SyntaxError as e:
            raise ValueError(f"this is not a Python expression: {e.msg}") from None
        tree = ast.fix_missing_locations(Plain(sizes, is_list).visit(tree))
        own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        called = {n.func for n in ast.walk(tree) if isinstance(n, ast.Call)}
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called}
        for node in ast.walk(tree):
            is_known = isinstance(node, NODES) and not (isinstance(node, ast.Call) and node.keywords)
            is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
            if not is_known or is_slice:
                raise ValueError(f"{type(node).__name__} is not supported")
        for node in called:
            if not isinstance(node, ast.Name) or node.id not in FUNCTIONS:
                raise ValueError(f"there is no function {ast.unparse(node)}() here")
        self.reads = names - own
        for name in sorted(self.reads - set(known)):
            raise ValueError(f"there is no '{name}' here" + meant(name, known))
        self.tree, self.code = tree.body, compile(tree, "T1", "eval")

    def value(self, names: dict[str, Any]) -> Any:
        return eval(self.code, {"__builtins__": {}, **FUNCTIONS, **names})


class Translator:
    """Translates an expression to Lua. Names in `types` remain names; other names are replaced by their `values`."""

    def __init__(self, types: dict[str, str], values: dict[str, Any], lists: dict[str, list]) -> None:
        self.types, self.values, self.lists = types, values, lists

    def reads(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.types for n in ast.walk(node))

    def value(self, node: ast.expr) -> Any:
        return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "T1", "eval"), {"__builtins__": {}, **FUNCTIONS, **self.values})

    def number(self, node: ast.expr) -> Text:
        text, of = self.text(node)
        if of == "text":
            raise ValueError("a text cannot be used as a number")
        return (f"({text} and 1 or 0)", "whole") if of == "truth" else (text, of)

    def truth(self, node: ast.expr) -> str:
        if not self.reads(node):
            return str(bool(self.value(node))).lower()
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return "(" + word.join(map(self.truth, node.values)) + ")"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"(not {self.truth(node.operand)})"
        text, of = self.text(node)
        return text if of == "truth" else f"({text} ~= {chr(39) * 2 if of == 'text' else 0})"

    def choose(self, condition: str, a: ast.expr, b: ast.expr) -> Text:
        (first, of), (second, of_second) = self.text(a), self.text(b)
        if of != of_second:
            (first, of), (second, of_second) = self.number(a), self.number(b)
        of = of if of == of_second else "number"
        if of == "truth":  # `condition and first or second` would give `second` if `first` is false
            return f"({condition} and {first} or not {condition} and {second})", of
        return f"({condition} and {first} or {second})", of

    def compare(self, op: ast.cmpop, a: ast.expr, b: ast.expr) -> str:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self.contains(a, b)
            return found if isinstance(op, ast.In) else f"(not {found})"
        (left, of), (right, of_right) = self.text(a), self.text(b)
        is_equality = isinstance(op, (ast.Eq, ast.NotEq))
        if of != of_right or of == "truth" and not is_equality:
            if "text" in (of, of_right) and is_equality:
                return str(isinstance(op, ast.NotEq)).lower()
            left, right = self.number(a)[0], self.number(b)[0]
        return f"({left} {COMPARISONS[type(op)]} {right})"

    def contains(self, a: ast.expr, among: ast.expr) -> str:
        items = among.elts if isinstance(among, (ast.List, ast.Tuple)) else None
        if not self.reads(among):
            value = self.value(among)
            if isinstance(value, str):
                return f"(string.find({quoted(value, chr(39))}, {self.text(a)[0]}, 1, true) ~= nil)"
            items = [ast.Constant(v) for v in value]
        if items is None:
            raise ValueError("'in' needs a list on its right side")
        return "(" + " or ".join(self.compare(ast.Eq(), a, one) for one in items) + ")" if items else "false"

    def least(self, node: ast.expr) -> int:
        """Returns a lower bound of a whole number; -1 if it may be negative or is unknown."""
        if not self.reads(node):
            return int(self.value(node))
        if isinstance(node, ast.Name):
            return min(self.lists.get(node.id, [-1]))
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            return min(self.least(node.left), self.least(node.right))
        return -1

    def binary(self, node: ast.BinOp) -> Text:
        (a, of_a), (b, of_b), op = self.text(node.left), self.text(node.right), type(node.op)
        if of_a == of_b == "text" and op is ast.Add:
            return f"({a} .. {b})", "text"
        if of_a == of_b == "truth" and op in OF_TRUTHS:
            return f"({a} {OF_TRUTHS[op]} {b})", "truth"
        (a, of_a), (b, of_b) = self.number(node.left), self.number(node.right)
        whole = of_a == of_b == "whole"
        if op in BITS:
            if not whole:
                raise ValueError(f"{ast.unparse(node)} needs whole numbers")
            return (f"({a} // (1 << {b}))" if op is ast.RShift else f"({a} {BITS[op]} {b})"), "whole"
        if op is ast.FloorDiv and not whole:
            return f"floor(({a} - {a} % {b}) / {b} + 0.5)", "number"
        if op is ast.Pow and whole and self.least(node.right) >= 0:
            return f"floor({a} ^ {b})", "whole"
        if op not in ARITHMETIC:
            raise ValueError(f"{ast.unparse(node)} is not supported")
        return f"({a} {ARITHMETIC[op]} {b})", "whole" if whole and op not in (ast.Div, ast.Pow) else "number"

    def call(self, node: ast.Call) -> Text:
        name, args = node.func.id, node.args  # type: ignore[attr-defined]
        if name == "bool" and len(args) == 1:
            return self.truth(args[0]), "truth"
        if name in ("min", "max"):
            args = args[0].elts if len(args) == 1 and isinstance(args[0], (ast.List, ast.Tuple)) else args
            texts = [self.number(one) for one in args]
            of = "whole" if all(t == "whole" for _, t in texts) else "number"
            return f"{name}(" + ", ".join(text for text, _ in texts) + ")", of
        if len(args) == 1:
            text, of = self.number(args[0])
            if name == "int":
                return (text if of == "whole" else f"({text} < 0 and ceil({text}) or floor({text}))"), "whole"
            forms = {"abs": ("abs({})", of), "floor": ("floor({})", "whole"), "ceil": ("ceil({})", "whole"),
                     "float": ("({} + 0.0)", "number"), "sqrt": ("({} ^ 0.5)", "number"),
                     "log2": ("math.log({}, 2)", "number")}
            if name in forms:
                return forms[name][0].format(text), forms[name][1]
        raise ValueError(f"{ast.unparse(node)}, which reads tuning parameters, is not supported")

    def text(self, node: ast.expr) -> Text:
        if not self.reads(node):
            return literal(self.value(node))
        if isinstance(node, ast.Name):
            return node.id, self.types[node.id]
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = [self.compare(op, a, b) for op, a, b in zip(node.ops, sides, sides[1:])]
            return parts[0] if len(parts) == 1 else "(" + " and ".join(parts) + ")", "truth"
        if isinstance(node, ast.IfExp):
            return self.choose(self.truth(node.test), node.body, node.orelse)
        if isinstance(node, ast.BoolOp):
            a, rest = node.values[0], node.values[1:]
            b = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            if self.text(a)[1] == self.text(b)[1] == "truth":
                return self.truth(node), "truth"
            return self.choose(self.truth(a), *((b, a) if isinstance(node.op, ast.And) else (a, b)))
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not):
                return self.truth(node), "truth"
            text, of = self.number(node.operand)
            if isinstance(node.op, ast.Invert) and of != "whole":
                raise ValueError("~ needs a whole number")
            return (text if isinstance(node.op, ast.UAdd) else f"({'-~'[isinstance(node.op, ast.Invert)]}{text})"), of
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise ValueError("a list that reads tuning parameters is not supported here")
