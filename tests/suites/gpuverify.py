#!/usr/bin/env python3
"""GPUVerify's CUDA tests. Their answers hold for all inputs; a check runs one input.

Usage: gpuverify.py --autotune BINARY --suite CHECKOUT [--jobs N]

The first line of a test is its answer, the second line its launch. Tests of the verifier's own errors have no answer
and are left out, and so are tests of a random generator whose tables come from a host library.
Arrays have ELEMENTS elements, which hold their index; numbers are 1, unless NUMBERS or the kernel's __requires()
give others.
"""
import math
import re
import sys

import suite

ELEMENTS = 1 << 18

# The verifier's annotations as code. Annotations that only guide its proof are always true.
ANNOTATIONS = """#pragma once
#include <cassert>
typedef unsigned int uint;
#define __requires(...) ((void)0)
#define __ensures(...) ((void)0)
#define __assume(...) ((void)0)
#define __invariant(...) ((void)0)
#define __global_invariant(...) ((void)0)
#define __requires_fresh_array(...) ((void)0)
#define __axiom(...)
#define __assert(...) assert((__VA_ARGS__))
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
#define __write_implies(...) true
#define __read_implies(...) true
#define __no_write(...) true
#define __no_read(...) true
#define __write(...) true
#define __read(...) true
#define __all(...) true
#define __distinct_int(...) true
#define __uniform_int(...) true
#define __uniform_bool(...) true
#define __other_int(x) (~(x))
#define synchronize(group) (group).sync()
#define __builtin_memset memset
#define __builtin_memcpy memcpy
"""

LUA = ("in", "end", "pairs")  # argument names that get a trailing _ in a description
NUMBERS = {  # test: { argument: value }, for tests that need another value than 1
    "function_pointers/basic_assignment_fail": {"i": 0},
    "param_values/value_causing_race": {"x": 185},
    "param_values/value_in_assert": {"c": 48},
    "reduced_strength_with_requires": {"sz": 1024},
}
MEMBERS = {  # test: { argument: members of the struct that is passed by value }; p and q are pointers
    **{f"fresh_arrays/{test}": {"q": ['"p"']} for test in (
        "fail/inherit", "fail/struct_char", "fail/struct_float", "fail/struct_nested",
        "pass/inherit", "pass/struct_char", "pass/struct_float")},
    "fresh_arrays/fail/array": {"q": 4 * ["at.uint64(0)"] + ['"p"'] + 37 * ["at.uint64(0)"]},
    "fresh_arrays/pass/array": {"q": 4 * ["at.uint64(0)"] + ['"p"'] + 37 * ["at.uint64(0)"]},
    "inheritance_struct_simplify/direct": {"p": ["at.int32(1)"], "q": ["at.int32(1)"]},
    "inheritance_struct_simplify/indirect": {"p": ["at.int32(1)"], "q": ["at.int32(1)"]},
    "memcpy_simplification/i8_element_parameter_passed_to_call": {"x": ["at.int8(1)"]},
    "memcpy_simplification/parameter_passed_to_call": {"x": ["at.int32(1)"]},
    "misc/fail/miscfail8": {"A": ["at.uint32(1)", "at.uint32(1)"]},
    "pointers_in_structs/test2": {"A": ['"p"']},
    "pointers_in_structs/test3": {"A": ['"p"']},
    "pointers_in_structs/test4": {"A": ['"p"', '"q"']},
    "store_in_byval_function": {"q": ['"p"']},
}

ONE_VALUE = "all threads write one value there, which is no race (docs/development/races.md)"
DEAD = "the compiler leaves out stores to what is never read"
ENDED = "the threads that miss the barrier have ended, and it does not wait for them (docs/development/races.md)"
ADDRESS = "takes a function's address as an argument, which a host does not have"
LOCKSTEP = "relies on lanes in lockstep, which compute capability 7.0 ended"
HOST = "is no CUDA: device code names a variable of the host"
TEXTURE = "has a texture reference, which CUDA 12 removed"
EXPLAINED = {  # test: the reason why another verdict is right
    "annotation_tests/test_axiom": "races in the blocks that the axiom denies",
    "argument_promotion": TEXTURE,
    "atomics/pointer_add": HOST,
    "cooperative_groups/fail/divergence_grid_group": ENDED,
    "cooperative_groups/fail/divergence_thread_block": ENDED,
    "curand_tests/fail/init_race": ONE_VALUE,
    "fail_tests/race_on_shared": DEAD,
    "fail_tests/shared_int": DEAD,
    **{f"function_pointers/{test}": ADDRESS for test in (
        "basic_argument_fail", "basic_argument_pass", "funcptr_lt", "funcptr_to_ptr", "funcptr_to_ptr_add", "pass_struct/call",
        "pass_struct/requires", "pass_struct/requires_call")},
    "globalarray/fail": "the verifier supposes that the host changes the constant array",
    "loop_unwind": DEAD,
    "memcpy/fail_arrayofstruct": "the compiler leaves out stores of what has no value",
    "memcpy/fail_overstep": ONE_VALUE,
    "memcpy/lentoobig": ONE_VALUE,
    "memcpy/notexactdiv": ONE_VALUE,
    "memcpy_simplification/global_passed_to_call": TEXTURE,
    "memcpy_simplification/i8_element_global_passed_to_call1": HOST,
    "memcpy_simplification/i8_element_global_passed_to_call2": HOST,
    "misc/fail/miscfail2": "an annotation is too weak, the kernel is right",
    "misc/fail/miscfail6": "is no CUDA: an array without elements",
    "misc/fail/miscfail7": "the verifier supposes a null pointer, the launch gives none",
    "misc/pass/misc7": "takes pointers to pointers, and a buffer holds none",
    "pointertests/cast": DEAD,
    "scope": "reads shared memory that nothing wrote; the verifier looks for races alone",
    "warpsync/2d": LOCKSTEP,
    "warpsync/intragroup_scan": LOCKSTEP,
    "warpsync/scan_warp": LOCKSTEP,
    "warpsync/shuffle": LOCKSTEP,
}
# includes that the verifier adds
HEADERS = {"cooperative_groups": "cooperative_groups.h", "curand_tests": "curand_kernel.h"}


def table(values):
    """Returns a Lua table for a list, or for a dictionary whose values are text."""
    items = [f"{name} = {value}" for name, value in values.items()] if isinstance(values, dict) else map(str, values)
    return "{ " + ", ".join(items) + " }"


def launch(line):
    """Returns the blocks, the threads and the macros of a test's second line."""
    sizes = {}
    for name in "gridDim", "blockDim":
        value = re.search(rf"--{name}=(\[[^]]*\]|[\d,]+)", line)[1]
        sizes[name] = [int(number) for number in re.findall(r"\d+", value)]
    return sizes["gridDim"], sizes["blockDim"], re.findall(r"-D\s*\S+", line)


def case(path, test):
    """Returns the case of a test, or None if the test has no answer."""
    text = path.read_text()
    answer, line = text.splitlines()[:2]
    if answer.lower() not in ("//pass", "//xfail:not_all_verified") or "curandStateMtgp32_t" in text:
        return None
    grid, block, macros = launch(line)
    entry, arguments = re.search(r"__global__\s+void\s+(\w+)\s*\(([^)]*)\)", text).groups()
    while math.prod(block) > 1024:  # no GPU allows more threads in a block
        block[block.index(max(block))] //= 2
    numbers, buffers, structs = {}, {}, MEMBERS.get(test, {})
    for argument in filter(None, (part.strip() for part in arguments.split(","))):
        kind, name = re.fullmatch(r"(.*?)\s*(\w+)\s*(?:\[\])?", argument, re.DOTALL).groups()
        if name in structs:
            buffers.update((member[1:-1], "uint32") for member in structs[name] if member[0] == '"')
        elif "*" in argument or "[" in argument:
            known = re.search(r"\b(int|char|float|double|uint|uint4)\b", kind)
            buffers[name + "_" if name in LUA else name] = None if known else "uint32"
        else:
            said = re.search(rf"__requires\({name} == (\d+)\)", text)
            numbers[name] = NUMBERS.get(test, {}).get(name, said[1] if said else 1)
    count = max(ELEMENTS, math.prod(grid) * math.prod(block))
    typed = {name: f'dtype = "{kind}", ' if kind else "" for name, kind in buffers.items()}
    bodies = "".join(f"\n__device__ {head} {{ return {head.split()[0]}(); }}"
                     for head in re.findall(r"^__device__ (\w+ \w+\([^)]*\));", text, re.MULTILINE)
                     if not re.search(re.escape(head) + r"\s*\{", text))
    folder = test.split("/")[0]
    passed = {name: f"at.struct {table(members)}" for name, members in structs.items()}
    fields = {
        "problem": table(numbers or {"none": 1}),
        "launch": table({"grid": table(grid), "block": table(block),
                         "cooperative": "true" if folder == "cooperative_groups" else "false"}),
        "kernel": table({"entry": f'"{entry}"', "options": f'"{" ".join(macros)}"' if macros else "nil",
                         "args": table(passed) if passed else "nil"}),
        "buffers": table({name: f'at.inout {{ {kind}count = {count}, fill = "index" }}' for name, kind in typed.items()}),
        "oracle": "false", "ragged": "false",
    }
    return suite.Case(
        name=test, source=f'#include <{HEADERS.get(folder, "cassert")}>\n#include "annotations.h"\n{text}{bodies}', group="CUDA tests",
        files={"annotations.h": ANNOTATIONS}, expected="right" if answer.lower() == "//pass" else "fault",
        explained=EXPLAINED.get(test, ""), fields="".join(f"{name} = {value}\n" for name, value in fields.items()))


def main():
    given = suite.arguments("Checks GPUVerify's CUDA tests.")
    root = given.suite / "testsuite/CUDA"
    cases = [case(path, str(path.parent.relative_to(root))) for path in sorted(root.rglob("*.cu"))]
    return suite.judge([found for found in cases if found], given, "GPUVerify")


if __name__ == "__main__":
    sys.exit(main())
