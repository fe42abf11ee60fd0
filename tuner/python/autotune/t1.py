"""Converts a T1 file, which Kernel Tuner, KTT and BAT read, to a script of autotune.

    python -m autotune.t1 spec.json > pattern.lua

The script belongs in the folder of the T1 file, beside the kernel's file. Constraints and sizes become Lua;
values and generated data are computed by Python. Warnings go to stderr; an error ends with exit code 2.
"""
from __future__ import annotations

import difflib
import json
import json.scanner
import os
import re
import sys
from typing import Any, Iterable, Iterator

from ._t1_expression import Expression, Translator, bare, literal, meant, quoted


class Wrong(Exception):
    """An error in the T1 file. The arguments are the object with the error (None for the whole file) and the message."""


class Object(dict):
    """An object of the T1 file, and the line at which it starts."""
    line = 0


def read_json(text: str) -> Any:
    def read_object(start: tuple[str, int], *rest: Any) -> tuple[Object, int]:
        members, end = json.decoder.JSONObject(start, *rest)
        made = Object(members)
        made.line = text.count("\n", 0, start[1]) + 1
        return made, end
    decoder = json.JSONDecoder()
    decoder.parse_object = read_object
    decoder.scan_once = json.scanner.py_make_scanner(decoder)
    return decoder.decode(text)


def warn(path: str, line: int, message: str) -> None:
    print(f"autotune.t1: warning: {path}:{line}: {message}", file=sys.stderr)


# ---- Lua ----

KEYWORDS = set("and break do else elseif end false for function goto if in local nil not or repeat return then true until "
               "while".split())
HELPERS = set("abs bits_type ceil ceil_div cluster_load ctype device floor include is_float is_pow2 log2 math max min "
              "round_up sizeof string".split())


def lua(value: Any, indent: str = "") -> str:
    """Returns a value in Lua. A dict becomes a table with names, a list a table without names; a Code is copied."""
    if isinstance(value, Code):
        return value.text
    if not isinstance(value, (dict, list)):
        return literal(value, '"')[0].strip("()") if not isinstance(value, str) else quoted(value)
    if isinstance(value, list):
        items = [lua(v, indent + "  ") for v in value]
    else:
        items = [(k if k.isidentifier() and k not in KEYWORDS else f"[{quoted(k)}]") + " = " + lua(v, indent + "  ")
                 for k, v in value.items() if v is not None]
    line = "{ " + ", ".join(items) + " }" if items else "{}"
    if len(line) + len(indent) <= 110 and "\n" not in line:
        return line
    return "{\n" + "".join(f"{indent}  {item},\n" for item in items) + indent + "}"


class Code:
    """Lua code that is not a value, such as at.float "x"."""

    def __init__(self, text: str) -> None:
        self.text = text


# ---- the file ----

KERNEL = {"Language", "CompilerOptions", "KernelName", "KernelFile", "KernelTypeNames", "GlobalSizeType", "LocalSize",
          "GlobalSize", "GridDivX", "GridDivY", "GridDivZ", "ProblemSize", "SharedMemory", "Arguments", "ReferenceArguments",
          "Device", "Profiling", "SimulationInput", "BenchmarkName", "BenchmarkPath", "Stream", "Misc", "SharedMemoryOriginal"}
ARGUMENT = {"Name", "Type", "Size", "TypeSize", "FillType", "FillValue", "DataSource", "RandomSeed", "AccessType", "MemoryType",
            "MemType", "Output"}
REFERENCE = {"Name", "TargetName", "FillType", "FillValue", "DataSource", "RandomSeed", "ValidationMethod", "ValidationThreshold"}
SCALARS = {"byte": "int8", **{t: t for t in "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 half float double".split()}}
VECTORS = {t + str(n): (t, n) for t in ("half", "float", "double") for n in (2, 3, 4, 8, 16) if (t, n) != ("half", 3)}
FILLS = {"Constant", "Random", "Generator", "BinaryRaw", "Uninitialized"}
TOLERANCES = {"half": 1e-2, "float": 1e-4, "double": 1e-9}  # relative to the largest magnitude
MOST_VALUES, MOST_GENERATED, MOST_TRIALS = 32, 1 << 16, 5000


class Converter:
    def __init__(self, path: str, root: Any) -> None:
        self.path, self.root = path, root
        self.space: dict[str, list] = {}
        self.types: dict[str, str] = {}     # types of the parameters
        self.problem: dict[str, Any] = {}
        self.sizes: list[str] = []          # the variables of ProblemSize
        self.sizes_are_list = True
        self.conditions: list[Expression] = []
        self.buffers: dict[str, dict] = {}
        self.made: dict[str, str] = {}      # the function that makes each buffer, such as at.input
        self.names: dict[str, str] = {}     # the name of each argument's buffer, by the argument's name
        self.constants: dict[str, str] = {}
        self.bytes: list[str] = []

    # -- members

    def known(self, object: Any, names: set[str], what: str) -> None:
        """Raises an error for a misspelt member, and warns of members that the format does not have."""
        if not isinstance(object, Object):
            raise Wrong(None, f"{what} must be an object {{ ... }}")
        for name, value in object.items():
            near = difflib.get_close_matches(name, list(names), 1)
            if name not in names and near and near[0] not in object and value not in (None, [], {}):
                raise Wrong(object, f'{what} has no member "{name}"; did you mean "{near[0]}"?')
            if name not in names:
                warn(self.path, object.line, f'"{name}" of {what} is not read: the format has no such member')

    def needed(self, object: Object, name: str, what: str) -> Any:
        if object.get(name) is None:
            raise Wrong(object, f'{what} has no "{name}"')
        return object[name]

    def word(self, object: Object, name: str, words: Iterable[str], otherwise: str | None, what: str) -> str:
        value = object.get(name)
        value = otherwise if value is None else value
        if value not in words:
            raise Wrong(object, f"{name} of {what} is {value!r}; it must be one of {', '.join(sorted(words))}{meant(value, words)}")
        return value

    # -- expressions

    def read(self, object: Object, what: str, text: Any, known: Iterable[str] = ()) -> Expression:
        try:
            return Expression(str(text), known, self.sizes, self.sizes_are_list)
        except (ValueError, RecursionError) as e:
            raise Wrong(object, f'{what}: "{text}": {e}') from None

    def constant(self, object: Object, what: str, given: Any, names: dict[str, Any] = {}) -> Any:
        if not isinstance(given, str):
            return given
        try:
            return self.read(object, what, given, names).value(names)
        except (ArithmeticError, TypeError, ValueError, IndexError) as e:
            raise Wrong(object, f'{what}: "{given}": {e}') from None

    def translated(self, object: Object, what: str, given: Any, with_parameters: bool = True) -> Any:
        """Returns Lua for a number that depends on variables of the problem and on parameters. Without `with_parameters`,
        the lists of values replace the parameters."""
        own = {n: literal(v)[1] for n, v in self.problem.items()}
        types = {**self.types, **own} if with_parameters else own
        e = self.read(object, what, given, {*self.space, *own})
        try:
            text, of = Translator(types, self.space, self.space).text(e.tree)
        except (ArithmeticError, TypeError, ValueError, IndexError) as error:
            raise Wrong(object, f'{what}: "{given}": {error}') from None
        if of not in ("whole", "number"):
            raise Wrong(object, f'{what}: "{given}" is a {of}, not a number')
        return int(text) if text.isdigit() else bare(text)

    def fresh(self, name: str, otherwise: str = "") -> str:
        """Returns an unused name for a variable or a buffer, similar to `name`."""
        name = re.sub(r"\W", "_", name, flags=re.ASCII)
        if not re.match("[A-Za-z]", name) or len(name) > 50:
            name = otherwise
        while name in KEYWORDS | HELPERS | {*self.space, *self.problem, *self.buffers}:
            name += "_"
        return name

    # -- the space

    def read_space(self) -> None:
        space = self.needed(self.root, "ConfigurationSpace", "the file")
        self.known(space, {"TuningParameters", "Conditions"}, "ConfigurationSpace")
        self.defaults = {}
        for p in self.needed(space, "TuningParameters", "ConfigurationSpace"):
            self.known(p, {"Name", "Type", "Values", "Default"}, "a tuning parameter")
            name = self.needed(p, "Name", "a tuning parameter")
            if name in self.space:
                raise Wrong(p, f"two tuning parameters have the name {name}: rename one")
            self.word(p, "Type", {"int", "uint", "float", "bool", "string"}, None, name)
            values = self.constant(p, f"Values of {name}", self.needed(p, "Values", name))
            values = list(values) if isinstance(values, (list, tuple, range)) else [values]
            try:
                types = {literal(v)[1] for v in values}
            except ValueError as e:
                raise Wrong(p, f"Values of {name}: {e}") from None
            if not values or len(types) > 1 and types != {"whole", "number"}:
                raise Wrong(p, f"the Values of {name} must be of one type, and at least one: {values}")
            self.space[name], self.types[name] = values, types.pop() if len(types) == 1 else "number"
            default = p.get("Default")
            default = default[0] if isinstance(default, list) and len(default) == 1 else default
            if default in values:
                self.defaults[name] = default
            elif default is not None:
                warn(self.path, p.line, f"the Default of {name}, {default}, is not one of its Values: the baseline takes another")
        self.where = []
        for c in space.get("Conditions") or []:
            self.known(c, {"Expression", "Parameters"}, "a condition")
            for name in c.get("Parameters") or []:
                if name not in self.space:
                    raise Wrong(c, f"Parameters: there is no tuning parameter '{name}'{meant(name, self.space)}")
            text = self.needed(c, "Expression", "a condition")
            e = self.read(c, "Expression", text, self.space)
            for name in sorted(e.reads - set(c.get("Parameters") or e.reads)):
                warn(self.path, c.line, f"Parameters does not name {name}, which the Expression reads")
            try:
                self.where.append(bare(Translator(self.types, {}, self.space).truth(e.tree)))
            except (ArithmeticError, TypeError, ValueError, IndexError) as error:
                raise Wrong(c, f'Expression: "{text}": {error}') from None
            self.conditions.append(e)

    def find_baseline(self) -> dict[str, Any]:
        """Returns the file's Defaults, or a configuration near them that the conditions allow."""
        names, trials = list(self.space), iter(range(MOST_TRIALS))
        last = [max((names.index(n) for n in c.reads), default=0) for c in self.conditions]

        def extended(chosen: dict[str, Any]) -> Iterator[dict[str, Any]]:
            place = len(chosen)
            if place == len(names):
                yield chosen
                return
            name = names[place]
            for v in [self.defaults.get(name, self.space[name][0]), *self.space[name]]:
                tried = {**chosen, name: v}
                if all(c.value(tried) for c, at in zip(self.conditions, last) if at == place and next(trials, None) is not None):
                    yield from extended(tried)
        try:
            found = next(extended({}), None)
        except (ArithmeticError, TypeError, ValueError):
            found = None
        found = found or {n: self.defaults.get(n, self.space[n][0]) for n in names}
        for name, default in self.defaults.items():
            if found[name] != default:
                warn(self.path, self.root["ConfigurationSpace"].line,
                     f"a condition rules the Defaults out: the baseline has {name}={found[name]}")
        return found

    # -- the launch

    def read_problem(self, kernel: Object) -> None:
        config = self.root.get("BenchmarkConfig") or {}
        for name, value in config.items():
            if isinstance(value, (bool, int, float, str)) and self.fresh(name) == name:
                self.problem[name] = value
        given = kernel.get("ProblemSize")
        if given is None:
            return
        self.sizes_are_list = isinstance(given, list)
        sizes = [self.constant(kernel, "ProblemSize", one) for one in (given if isinstance(given, list) else [given])]
        if not 1 <= len(sizes) <= 3 or not all(isinstance(v, int) and v > 0 for v in sizes):
            raise Wrong(kernel, f"ProblemSize: {given} must be a list of one to three sizes")
        for axis, v in zip("xyz", sizes):
            self.sizes.append(self.fresh("problem_size_" + axis))
            self.problem[self.sizes[-1]] = v

    def read_launch(self, kernel: Object) -> dict[str, list]:
        what = "KernelSpecification"
        local = self.needed(kernel, "LocalSize", what)
        block = [self.translated(local, f"LocalSize.{a}", local.get(a, 1)) for a in "XYZ"]
        kind = self.word(kernel, "GlobalSizeType", {"CUDA", "OpenCL", "Vulkan"}, "CUDA", what)
        grid: list[Any] = []
        if self.sizes:
            for i, a in enumerate("XYZ"):
                divisors = [self.translated(kernel, f"GridDiv{a}", one) for one in kernel.get(f"GridDiv{a}") or []]
                if not divisors and f"block_size_{a.lower()}" in self.space:
                    divisors = [f"block_size_{a.lower()}"]
                size = self.sizes[i] if i < len(self.sizes) else None
                grid.append(f"ceil_div({size}, {' * '.join(f'({d})' for d in divisors)})" if size and divisors else size or 1)
        else:
            given = self.needed(kernel, "GlobalSize", what)
            for a, threads in zip("XYZ", block):
                blocks = self.translated(given, f"GlobalSize.{a}", given.get(a, 1))
                grid.append(f"ceil_div({blocks}, {threads})" if kind == "OpenCL" and blocks != 1 else blocks)
        return {"grid": grid, "block": block}

    # -- arguments

    def element(self, given: Object, what: str) -> tuple[str, int]:
        name = self.word(given, "Type", {*SCALARS, *VECTORS, "custom"}, None, what)
        if name == "custom":
            return "uint8", self.needed(given, "TypeSize", what)
        return VECTORS.get(name) or (SCALARS[name], 1)

    def fill_value(self, given: Object, what: str) -> Any:
        v = self.constant(given, f"FillValue of {what}", self.needed(given, "FillValue", what))
        if not isinstance(v, (bool, int, float)):
            raise Wrong(given, f"FillValue of {what}: {v!r} is not a number")
        return v

    def file(self, given: Object, dtype: str, what: str) -> Code:
        return Code(f"at.file({quoted(self.needed(given, 'DataSource', what))}, {{ dtype = \"{dtype}\" }})")

    def read_fill(self, given: Object, dtype: str, count: int, what: str) -> Any:
        kind = self.word(given, "FillType", FILLS, "Constant", what)
        if kind == "Random":  # the format does not define the distribution
            return "uniform"
        if kind == "Uninitialized":
            return "zero"
        if kind == "BinaryRaw":
            return self.file(given, dtype, what)
        if kind == "Constant":
            return Code(f"at.constant({lua(self.fill_value(given, what))})")
        text = self.needed(given, "DataSource", what)
        if text.strip() == "i":
            return "index"
        what = f"DataSource of {what}"
        values = [self.constant(given, what, text, {"i": i}) for i in range(min(count, MOST_GENERATED))]
        for period in range(1, MOST_VALUES + 1):
            if values[period:] == values[:-period]:
                return Code(f"at.values {lua(values[:period])}")
        raise Wrong(given, f'{what}: "{text}" has more than {MOST_VALUES} values that do not repeat. Write them to a file, '
                           "and use FillType BinaryRaw")

    def read_vector(self, given: Object, place: int, constant: bool, what: str) -> str:
        called = given.get("Name") or ""
        name = self.fresh(called, f"argument_{place}")
        dtype, items = self.element(given, what)
        size = self.needed(given, "Size", what)
        elements = self.constant(given, f"Size of {what}", str(size), {**self.space, **self.problem})
        count = self.translated(given, f"Size of {what}", size, False)
        count = count if items == 1 else f"({count}) * {items}"
        access = self.word(given, "AccessType", {"ReadOnly", "WriteOnly", "ReadWrite"}, "ReadWrite", what)
        role = "input" if constant else {"ReadOnly": "input", "WriteOnly": "output", "ReadWrite": "inout"}[access]
        if constant and not called:
            raise Wrong(given, f"{what} is constant memory and needs a Name, the name of the variable")
        if constant:
            self.constants[called] = name
        self.made[name], self.buffers[name] = role, {
            "dtype": dtype, "count": count, "fill": None if role == "output" else self.read_fill(given, dtype, elements, what),
            "tolerance": TOLERANCES.get(dtype) if role != "input" else None}
        if role != "input":
            self.names[called] = name
        self.bytes.append(f"{'2 * ' * (role == 'inout')}{count if isinstance(count, int) else f'({count})'} * sizeof('{dtype}')")
        return name

    def read_scalar(self, given: Object, place: int, what: str) -> Code:
        called = given.get("Name") or ""
        name = self.fresh(called, f"argument_{place}")
        dtype, items = self.element(given, what)
        v = self.fill_value(given, what)
        if items != 1:
            raise Wrong(given, f"{what}: a scalar of the Type {given['Type']} is not supported")
        if dtype in ("half", "float", "double", "bool"):
            v = bool(v) if dtype == "bool" else float(v)
        elif v != int(v):
            raise Wrong(given, f"{what}: {v} is not a whole number, but its Type is {given['Type']}")
        else:
            v = int(v)
        if self.problem.get(called) != v or type(self.problem[called]) is not type(v):
            self.problem[name] = v
            called = name
        return Code(f'at.{dtype} "{called}"')

    def read_arguments(self, kernel: Object, kernel_text: str) -> list[Any]:
        list_, taken = kernel.get("Arguments") or [], []
        for place, given in enumerate(list_, 1):
            what = f"argument {place}" + (f" ({given['Name']})" if isinstance(given, dict) and given.get("Name") else "")
            self.known(given, ARGUMENT, what)
            memory = self.word(given, "MemoryType", {"Vector", "Scalar", "Symbol", "Constant"}, "Vector", what)
            symbol = memory in ("Symbol", "Constant")
            constant = symbol or given.get("MemType") == "Constant"
            value: Any = self.read_scalar(given, place, what) if memory == "Scalar" else \
                self.read_vector(given, place, constant, what)
            taken.append((value, symbol, constant))
        # For Kernel Tuner, a constant is also an argument of the kernel, except if the kernel has too few parameters.
        head = re.search(r"\b%s\s*\(([^)]*)\)" % re.escape(re.split("[<:]", kernel["KernelName"])[0]), kernel_text)
        takes = len(head[1].split(",")) if head and head[1].strip() else 0
        fewer = takes == len(taken) - sum(constant for _, _, constant in taken)
        return [value for value, symbol, constant in taken if not symbol and not (constant and fewer)]

    def read_references(self, kernel: Object) -> dict[str, Code] | None:
        files = {}
        for place, given in enumerate(kernel.get("ReferenceArguments") or [], 1):
            what = f"reference argument {place}"
            self.known(given, REFERENCE, what)
            target = self.needed(given, "TargetName", what)
            if target not in self.names:
                raise Wrong(given, f"TargetName of {what}: no argument of that name is written: {target!r}{meant(target, self.names)}")
            buffer = self.buffers[self.names[target]]
            method = self.word(given, "ValidationMethod", {"AbsoluteDifference", "SideBySideComparison",
                                                           "SideBySideRelativeComparison"}, "SideBySideComparison", what)
            if given.get("ValidationThreshold") is not None:
                how = "relative" if method == "SideBySideRelativeComparison" else "absolute"
                buffer["tolerance"] = Code(f"at.{how}({lua(given['ValidationThreshold'])})")
            if self.word(given, "FillType", FILLS, "Constant", what) == "BinaryRaw":
                files[self.names[target]] = self.file(given, buffer["dtype"], what)
            else:
                warn(self.path, given.line, f"FillType of {what}: these expected results are ignored, because they are not in a file")
        return files or None

    # -- the script

    def convert(self) -> str:
        root = self.root
        if not isinstance(root, Object) or not {"ConfigurationSpace", "KernelSpecification"} & set(root):
            raise Wrong(None, "this is not a T1 file: it has neither ConfigurationSpace nor KernelSpecification")
        self.known(root, {"ConfigurationSpace", "KernelSpecification", "General", "Search", "Budget", "BenchmarkConfig",
                          "SearchSettings", "verification", "$schema"}, "the file")
        self.read_space()
        what = "KernelSpecification"
        kernel = self.needed(root, what, "the file")
        self.known(kernel, KERNEL, what)
        if self.needed(kernel, "Language", what) != "CUDA":
            raise Wrong(kernel, f"the Language is '{kernel['Language']}', but only kernels in CUDA can be tuned")
        file, name = self.needed(kernel, "KernelFile", what), self.needed(kernel, "KernelName", what)
        if "${" in "".join(kernel.get("CompilerOptions") or []):
            raise Wrong(kernel, "CompilerOptions: an option cannot have ${ in it")
        try:
            with open(os.path.join(os.path.dirname(self.path), file), encoding="utf-8", errors="replace") as f:
                text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", f.read(), flags=re.S)
        except OSError as e:
            raise Wrong(kernel, f"KernelFile: {file}: {e.strerror}") from None
        self.read_problem(kernel)
        launch = self.read_launch(kernel)
        args = self.read_arguments(kernel, text)
        reference = self.read_references(kernel)
        shared = kernel.get("SharedMemory")
        options = [o for o in kernel.get("CompilerOptions") or [] if o and not o.startswith("-I")]
        folders = [os.path.normpath(o[2:].strip()) for o in kernel.get("CompilerOptions") or [] if o.startswith("-I")]
        # The Toolkit's headers refuse older C++ dialects by default.
        if any(re.match("--?std=c\\+\\+[01][^7-9]", o) for o in options):
            options.append("-DCCCL_IGNORE_DEPRECATED_CPP_DIALECT")
        types = kernel.get("KernelTypeNames")
        named = re.sub(r"\W", "_", (root.get("General") or {}).get("BenchmarkName") or name, flags=re.ASCII)[:57]
        return "\n".join([
            f"-- {os.path.basename(self.path)}, converted by python -m autotune.t1.",
            'local at = require "autotune"',
            "return at.pattern " + lua({
                "name": named if re.match("[A-Za-z_]", named) else f"t1_{named}",
                "summary": f"the kernel {name} of {file}",
                "problem": self.problem,
                "space": [[n, values] for n, values in self.space.items()],
                "where": self.where,
                "baseline": self.find_baseline(),
                "buffers": {n: Code(f"at.{self.made[n]} {lua(b, '    ')}") for n, b in self.buffers.items()},
                "kernel": {
                    "template" if file.endswith(".tmpl") else "source": file,
                    "entry": f"{name}<{', '.join(types)}>" if types else name,
                    "args": args,
                    "constants": self.constants or None,
                    "options": options or None,
                    "include": [f for f in folders if f != "."] or None,
                    "shared": None if shared is None else self.translated(kernel, "SharedMemory", shared),
                },
                "launch": launch,
                "reference": reference,
                # The kernel may contain sizes of this problem, so it may not work for other problems.
                "ragged": False,
                "simulated": False,
                "traffic": " + ".join(self.bytes) or None,
            }), ""])


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = sys.argv[1]
    try:
        with open(path, encoding="utf-8") as f:
            print(Converter(path, read_json(f.read())).convert(), end="")
    except (OSError, UnicodeDecodeError) as e:
        print(f"autotune.t1: {path}: {getattr(e, 'strerror', None) or e}", file=sys.stderr)
    except json.JSONDecodeError as e:
        print(f"autotune.t1: {path}:{e.lineno}: {e.msg}", file=sys.stderr)
    except Wrong as e:
        line, message = getattr(e.args[0], "line", 1), e.args[1]
        print(f"autotune.t1: {path}:{line}: {message}", file=sys.stderr)
    else:
        return 0
    return 2


if __name__ == "__main__":
    sys.exit(main())
