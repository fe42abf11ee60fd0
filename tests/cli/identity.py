#!/usr/bin/env python3
"""Checks that any script field that a parameter can change makes another variant.

usage: identity.py LUA_FOLDER AUTOTUNE FAKE_CUDA [sample]

The fields of a script are read from the program's own lists (each check.fields() in the Lua folder), so that a field
without a case here fails. In each case the parameter p changes one field and nothing else. The case has two parts:
  - `lint`, which compares variants by their identity, must not say that nothing reads p;
  - if results depend on the field ("seen"), a simulated run must have different outcomes for p = 1 and p = 2, in
  either order. A variant that is wrongly taken for a twin would have the other's outcome;
  - if no simulated device shows the difference ("told": transfers, textures, tensor maps, placement of blocks), a
  run on the GPU of the driver FAKE_CUDA must try both variants, though their machine code is equal.
Fields that no parameter can reach are either refused if they read one ("refused"), or plain texts ("literal").
Properties of the whole pattern are not part of a variant ("outside"). `sample` runs every third case; `lint` sees all."""
import json
import os
import re
import subprocess
import sys
import tempfile

LUA, TOOL, FAKE_CUDA = map(os.path.abspath, sys.argv[1:4])
CALL = r"check\.fields\(\w+, [^()]*?, (\w+(?:\[\w+\])?|\{[^}]*\})\)"


def known_fields():
    """Returns the script fields that the program lists: {"file.lua:LIST": [field, ...]}"""
    found = {}
    for name in sorted(os.listdir(LUA)):
        if not name.endswith(".lua") or name == "check.lua":
            continue
        text = open(os.path.join(LUA, name)).read()
        tables = re.finditer(r"^local (\w*FIELDS) = \{(.*?)\}\n(?=\n|local|function)", text, re.S | re.M)
        lists = {m[1]: m[2] for m in tables}
        for call in re.finditer(CALL, text):
            what = call[1]
            if what.startswith("{"):
                found[f"{name}:{{{re.sub('[^a-z,]', '', what)}}}"] = re.findall(r'"(\w+)"', what)
            elif what.endswith("]"):
                for kind in re.finditer(r"(\w+) = \{(.*?)\}", lists[what.split("[")[0]] + "}", re.S):
                    found[f"{name}:{kind[1]}"] = re.findall(r'"(\w+)"', kind[2])
            else:
                found[f"{name}:{what}"] = re.findall(r'"(\w+)"', lists[what])
        calls, read = len(re.findall(r"check\.fields\(", text)), len(re.findall(CALL, text))
        if calls != read:
            sys.exit(f"{name}: {calls - read} calls of check.fields() are written in a way not known here")
    return found


# ---- a script whose fields the cases replace ----

PLAIN = dict(
    problem="{ n = 4096 }",
    layout=None,
    buffers="{ src = at.input { dtype = 'int32', count = 'n', fill = 'index' }, "
            "dst = at.output { dtype = 'int32', count = 'n' } }",
    kernel="{ template = 'k.cu', entry = 'k', args = { 'src', 'dst', at.int32 'n' } }",
    launch="{ grid = 'ceil_div(n, 256)', block = 256 }",
    traffic="'8 * n'",
    reference="at.reference { template = 'r.cu', args = { 'src', 'dst', at.int32 'n' } }",
)
HEAD = 'extern "C" __global__ void k(const int *src, int *dst, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; '
COPY = HEAD + "if (i < n) dst[i] = src[i]; }\n"
REFERENCE = ('extern "C" __global__ void reference(const int *src, int *dst, int n) '
             "{ int i = blockIdx.x * 256 + threadIdx.x; if (i < n) dst[i] = src[i]; }\n")


def script(first, **fields):
    other = 3 - first
    body = "".join(f"  {k} = {v},\n" for k, v in {**PLAIN, **fields}.items() if v is not None)
    return ('local at = require "autotune"\nreturn at.pattern {\n  name = "copy", '
            f"space = {{ p = {{ {first}, {other} }} }},\n{body}}}\n")


def seen(cu=COPY, right=REFERENCE, **fields):
    """A case in which p = 2 changes the results."""
    return ("seen", cu, right, fields)


def told(cu=COPY, right=REFERENCE, **fields):
    """A case in which p = 2 changes the identity, but no results on a simulated device."""
    return ("told", cu, right, fields)


def refused(**fields):
    """A case that is refused. The field is common to all variants, so it may not read parameters."""
    return ("refused", COPY, REFERENCE, fields)


LITERAL, OUTSIDE = ("literal",), ("outside",)


def buffers(src="dtype = 'int32', count = 'n', fill = 'index'", dst="dtype = 'int32', count = 'n'"):
    return f"{{ src = at.input {{ {src} }}, dst = at.output {{ {dst} }} }}"


def laid_out(cu=COPY, right=REFERENCE, **fields):
    return seen(cu, right, layout="{ 'p' }", **fields)


def launched(text, cu=COPY, how=seen):
    return how(cu, launch="{ grid = 'ceil_div(n, 256)', block = 256, %s }" % text)


def kernel_with(text):
    return "{ template = 'k.cu', entry = 'k', args = { 'src', 'dst', at.int32 'n' }, %s }" % text


def fixed(what, text, **fields):
    """Returns fields with a reference or a kernel that prepares inputs. These may read parameters of the layout."""
    return {what: f"at.{'kernel' if what == 'prepare' else what} {{ template = 'r.cu', {text} }}", **fields}


WRITES_I = HEAD + "if (i < n) dst[i] = i; }\n"
READS_SHARED = HEAD + ("extern __shared__ int s[]; s[threadIdx.x] = 0; "
                       "if (i < n) dst[i] = src[i] + s[threadIdx.x]; }\n")
CLUSTER = HEAD + ('int c; asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(c)); if (i < n) dst[i] = src[i] + c - 1; }\n')
P_IS_1 = "'p == 1 and ceil_div(n, 256) or 1'"
# The source of a reference or a preparing kernel. Its results change if P or v is not 1, or if there are few threads.
FIXED = ('#ifndef P\n#define P 1\n#endif\n__constant__ int unused;\n'
         'extern "C" __global__ void NAME(int *src, int *dst, int n, int v) { int all = gridDim.x * blockDim.x; '
         "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += all) "
         "TO[i] = FROM + P - 1 + v - 1 + (all < n); }\n")
R_FIXED = FIXED.replace("NAME", "reference").replace("TO", "dst").replace("FROM", "src[i]")
F_FIXED = FIXED.replace("NAME", "prepare").replace("TO", "src").replace("FROM", "i")
ARGS = "args = { 'src', 'dst', at.int32 'n', at.int32 '%s' }"


def fixed_cases(what):
    """Returns the cases of at.reference or at.kernel."""
    kernel, source = (COPY, R_FIXED) if what == "reference" else (WRITES_I, F_FIXED)

    def one(text, v="1", how=laid_out):
        fields = fixed(what, f"{ARGS % v}, {text}")
        if what == "prepare":
            fields["prepare"] = fields["prepare"].replace("r.cu", "f.cu")
        return how(kernel, source if what == "reference" else (REFERENCE, source), **fields)

    def quiet(*args, **fields):
        return told(*args, layout="{ 'p' }", **fields)

    return {
        "template": LITERAL, "include": LITERAL, "entry": LITERAL, "constants": LITERAL,
        "args": one("", v="p"),
        "grid": one(f"grid = {P_IS_1}"),
        "block": one("grid = 'ceil_div(n, 256)', block = 'p == 1 and 256 or 32'"),
        "shared": one("grid = 'ceil_div(n, 256)', shared = '4 * p'", how=quiet),
        "cluster": one("grid = 'ceil_div(n, 256)', cluster = 'p'", how=quiet),
        "balanced": one("grid = 'ceil_div(n, 256)', cluster = 2, balanced = 'p == 1'", how=quiet),
        "cooperative": one("grid = 'ceil_div(n, 256)', cooperative = 'p == 1'", how=quiet),
        "times": one("grid = 'ceil_div(n, 256)', times = 'p'", how=quiet),
        "launches": one("launches = { { grid = %s, block = 256 } }" % P_IS_1),
        "options": one("options = '-DP=${p}'"),
    }


def launches_with(text, cu=COPY, how=seen):
    """Returns a case with two launches; each copies the elements that its grid covers."""
    return how(cu, launch=None, launches="{ { grid = 1, block = 256 }, { grid = 'ceil_div(n, 256)', block = 256, %s } }"
               % text)


def view(kind, text, dtype, cu):
    argument = "at.%s { buffer = 'src', %s }" % (kind, text)
    return told(cu, kernel="{ template = 'k.cu', entry = 'k', args = { %s, 'dst', at.int32 'n' } }" % argument,
                buffers=buffers(f"dtype = '{dtype}', count = 'n'"))


def tensor(text, dtype="int32"):
    takes_map = COPY.replace("const int *src", "const __grid_constant__ map src").replace("src[i]", "src.bytes[i % 128]")
    return view("tensor", text, dtype, "struct alignas(64) map { char bytes[128]; };\n" + takes_map)


def texture(text, dtype="int32"):
    return view("texture", text, dtype, COPY)


def surface(text, dtype="int32"):
    return view("surface", text, dtype, COPY)


def moved(text):
    return told(launch=None, kernel=None, transfer="{ from = 'src', to = 'dst', %s }" % text)


WAY = "direction = 'to_device', memory = 'pinned'"
CASES = {
    "autotune.lua:PATTERN_FIELDS": {
        "name": LITERAL, "summary": LITERAL, "problem": LITERAL, "ragged": LITERAL, "simulated": LITERAL,
        "space": LITERAL, "baseline": LITERAL, "starts": LITERAL, "deterministic": LITERAL, "oracle": LITERAL,
        "derived": seen(derived=f"{{ blocks = {P_IS_1} }}", launch="{ grid = 'blocks', block = 256 }"),
        "where": seen(where="{ 'p == 1' }"),
        "layout": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = 'values', values = 'p'"),
                           cu=HEAD + "if (i < n) dst[i] = 1; }\n"),
        "buffers": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = \"p == 1 and 'index' or 'bits'\""),
                            cu=WRITES_I),
        "prepare": fixed_cases("prepare")["args"],
        "transfer": moved("direction = 'to_device', memory = 'pinned', streams = 'p'"),
        "kernel": seen(cu=HEAD + "if (i < n) dst[i] = src[i] + ${p} - 1; }\n"),
        "sizes": laid_out(buffers=None, kernel="{ source = 'k.cu', entry = 'k' }", sizes="{ src = 'n', dst = 'n + p - 1' }",
                          right=REFERENCE.replace("if (i < n) dst[i] = src[i]",
                                                  "if (i < n + ${p} - 1) dst[i] = i < n ? src[i] : 7")),
        "outputs": LITERAL,
        "launch": seen(launch=f"{{ grid = {P_IS_1}, block = 256 }}"),
        "launches": launches_with("when = 'p == 1'"),
        "traffic": refused(traffic="'8 * n * p'"),
        "flops": refused(flops="'n * p'"),
        "items": refused(items="{ keys = 'n * p' }"),
        "choose_by": OUTSIDE,
        "ceiling": refused(ceiling="\"p == 1 and 'read' or 'copy'\""),
        "reference": fixed_cases("reference")["args"],
        "tolerance": refused(tolerance="'p'"),
    },
    "kernel.lua:BUFFER_FIELDS": {
        "dtype": laid_out(buffers=buffers(dst="dtype = \"p == 1 and 'int32' or 'float'\", count = 'n'"),
                          right=REFERENCE.replace("int *dst", "${p == 1 and 'int' or 'float'} *dst")),
        "count": laid_out(buffers=buffers(dst="dtype = 'int32', count = 'n + p - 1'"),
                          right=REFERENCE.replace("if (i < n) dst[i] = src[i]",
                                                      "if (i < n + ${p} - 1) dst[i] = i < n ? src[i] : 7")),
        "fill": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = \"p == 1 and 'index' or 'bits'\""),
                         cu=WRITES_I),
        "limit": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = 'below', limit = 'p'"),
                          cu=HEAD + "if (i < n) dst[i] = 0; }\n"),
        "block": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = 'local', limit = 'n', "
                                          "block = 'p == 1 and 1 or 64'"), cu=WRITES_I),
        "values": laid_out(buffers=buffers("dtype = 'int32', count = 'n', fill = 'values', values = { 'p', 'p' }"),
                           cu=HEAD + "if (i < n) dst[i] = 1; }\n"),
        "shape": told(layout="{ 'p' }", buffers=buffers(dst="dtype = 'int32', count = 'n', shape = { 'p', 'n // p' }")),
        "tolerance": refused(buffers=buffers(dst="dtype = 'int32', count = 'n', tolerance = 'p'")),
        "order": LITERAL, "record": LITERAL,
        "compare": seen(HEAD + "if (i < n) dst[i] = i < n / 2 ? src[i] : 0; }\n",
                        buffers=buffers(dst="dtype = 'int32', count = 'n', compare = 'p == 1 and n // 2 or n'")),
    },
    "kernel.lua:KERNEL_FIELDS": {
        "template": LITERAL, "source": LITERAL, "include": LITERAL, "entry": LITERAL, "constants": LITERAL,
        "args": seen(kernel="{ template = 'k.cu', entry = 'k', args = { 'src', 'dst', at.int32 'n // p' } }"),
        "shared": seen(READS_SHARED, kernel=kernel_with("shared = '1024 // p'")),
        "options": seen(HEAD + "if (i < n) dst[i] = src[i] + P - 1; }\n", kernel=kernel_with("options = '-DP=${p}'")),
    },
    "kernel.lua:LAUNCH_FIELDS": {
        "grid": seen(launch=f"{{ grid = {P_IS_1}, block = 256 }}"),
        "block": seen(launch="{ grid = 'ceil_div(n, 256)', block = '256 // p' }"),
        "shared": launched("shared = '1024 // p'", READS_SHARED),
        "cluster": launched("cluster = 'p'", CLUSTER),
        "balanced": launched("cluster = 2, balanced = 'p == 1'", how=told),
        # the grid has more blocks than can be resident at once
        "cooperative": seen(launch="{ grid = 300, block = 1024, cooperative = 'p == 2' }"),
        "times": launched("times = 'p'", how=told),
    },
    "kernel.lua:GROUP_FIELDS": {
        "times": seen(launch=None, launches="{ { grid = 1, block = 256 }, { times = '2 - p', "
                                            "launches = { { grid = 'ceil_div(n, 256)', block = 256 } } } }"),
        "launches": seen(launch=None, launches="{ { times = 2, launches = { { grid = %s, block = 256 } } } }" % P_IS_1),
    },
    "kernel.lua:LAUNCHES_FIELDS": {
        "entry": LITERAL,
        "args": launches_with("args = { 'src', 'dst', at.int32 'n // p' }"),
        "when": launches_with("when = 'p == 1'"),
        "times": launches_with("times = '2 - p'"),
        "grid": seen(launch=None, launches=f"{{ {{ grid = {P_IS_1}, block = 256 }} }}"),
        "block": seen(launch=None, launches="{ { grid = 'ceil_div(n, 256)', block = '256 // p' } }"),
        "shared": launches_with("shared = '1024 // p'",
                                READS_SHARED.replace("s[threadIdx.x] = 0;", "if (gridDim.x > 1) s[threadIdx.x] = 0;")
                                .replace("+ s[threadIdx.x]", "+ (gridDim.x > 1 ? s[threadIdx.x] : 0)")),
        "cluster": launches_with("cluster = 'p'", CLUSTER),
        "balanced": launches_with("cluster = 2, balanced = 'p == 1'", how=told),
        "cooperative": seen(launch=None, launches="{ { grid = 300, block = 1024, cooperative = 'p == 2' } }"),
    },
    "kernel.lua:REFERENCE_FIELDS": {(what, field): case for what in ("reference", "prepare")
                                    for field, case in fixed_cases(what).items()},
    "view.lua:tensor": {
        "buffer": LITERAL,
        "size": tensor("size = { 64, '64 // p' }, box = { 4, 4 }"),
        "strides": tensor("size = { 32, 32 }, strides = { '32 * p' }, box = { 4, 4 }"),
        "box": tensor("size = { 64, 64 }, box = { '4 * p', 4 }"),
        "swizzle": tensor("size = { 64, 64 }, box = { 8, 4 }, swizzle = '32 * p'"),
        "l2": tensor("size = { 64, 64 }, box = { 4, 4 }, l2 = '64 * p'"),
        "outside": tensor("size = { 64, 64 }, box = { 4, 4 }, outside = \"p == 1 and 'zero' or 'nan'\"", "float"),
    },
    "view.lua:texture": {
        "buffer": LITERAL,
        "size": texture("size = '4096 // p'"),
        "strides": texture("size = { 32, 32 }, strides = { '32 * p' }"),
        "channels": texture("size = 1024, channels = '2 * p'"),
        "filter": texture("size = { 64, 64 }, filter = \"p == 1 and 'point' or 'linear'\"", "float"),
        "address": texture("size = { 64, 64 }, address = \"p == 1 and 'clamp' or 'border'\""),
        "coordinates": texture("size = { 64, 64 }, coordinates = \"p == 1 and 'elements' or 'normalised'\""),
        "layers": texture("size = { 16, 4 }, layers = '4 * p'"),
        "memory": texture("size = { 64, 8 }, memory = \"p == 1 and 'buffer' or 'array'\""),
        "reads": texture("size = { 64, 64 }, reads = \"p == 1 and 'element' or 'float'\"", "uint8"),
    },
    "view.lua:surface": {
        "buffer": LITERAL,
        "size": surface("size = '4096 // p'"),
        "layers": surface("size = 16, layers = '4 * p'"),
        "channels": surface("size = 1024, channels = '2 * p'"),
    },
    "host_memory.lua:FIELDS": {
        "from": LITERAL, "to": LITERAL,
        "direction": refused(launch=None, kernel=None, transfer="{ from = 'src', to = 'dst', memory = 'pinned', "
                             "direction = \"p == 1 and 'to_device' or 'to_host'\" }"),
        "pieces": refused(launch=None, kernel=None, transfer="{ from = 'src', to = 'dst', %s, pieces = 'p' }" % WAY),
        "pitch_bytes": refused(launch=None, kernel=None,
                               transfer="{ from = 'src', to = 'dst', %s, pieces = 2, pitch_bytes = '8192 * p' }" % WAY),
        "memory": moved("direction = 'to_device', memory = \"p == 1 and 'pinned' or 'pageable'\""),
        "staging": moved("direction = 'to_device', memory = 'pageable', staging = \"p == 1 and 'none' or 'pinned'\""),
        "chunk_bytes": moved(WAY + ", chunk_bytes = '1024 * p'"),
        "streams": moved(WAY + ", chunk_bytes = 1024, streams = 'p'"),
    },
    # fields of the space itself: the values of p and their conditions
    "space.lua:{,condition,values,elsewhere}": {"condition": LITERAL, "values": LITERAL, "elsewhere": LITERAL},
    "space.lua:{,}": {},
}


def tool(folder, *arguments, **environment):
    return subprocess.run([TOOL, *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "XDG_STATE_HOME": folder, **environment})


def write(folder, name, text):
    with open(os.path.join(folder, name), "w") as to:
        to.write(text)


def run(folder, *options, **environment):
    """Returns the --json results for p = 1 and p = 2."""
    done = tool(folder, "copy.lua", "--no-record", "--json", "--quiet", "--top", "10", *options, **environment)
    if done.returncode not in (0, 1):
        raise AssertionError(f"the run ended with {done.returncode}: {done.stderr}")
    found = {r["config"]["p"]: r for r in json.loads(done.stdout)["results"]}
    return found.get(1), found.get(2)


def outcomes(folder):
    """Returns the outcomes for p = 1 and p = 2 in a simulated run."""
    return [r and (r["outcome"], re.sub(r"\d+", "", r["message"] or "")) for r in run(folder, "--device", "sim:sm_90")]


def tried_apart(folder):
    """Returns whether both variants were tried on the (fake) GPU, although their kernels have the same machine code."""
    both = run(folder, "--device", "cuda:0", AUTOTUNE_LIBCUDA=FAKE_CUDA, AUTOTUNE_LIBNVML="none", AUTOTUNE_TURNS=folder,
               FAKE_CUDA_ANY="1")
    assert all(both), "p = 1 or p = 2 was not tried"
    return [r["twin_of"] for r in both] == [None, None]


def try_case(runs, how, kernel, reference, fields):
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "k.cu", kernel)
        write(folder, "r.cu", reference if isinstance(reference, str) else reference[0])
        write(folder, "f.cu", "" if isinstance(reference, str) else reference[1])
        write(folder, "copy.lua", script(1, **fields))
        lint = tool(folder, "lint", "copy.lua", "--arch", "sm_90")
        if how == "refused":
            assert lint.returncode == 2 and "'p'" in lint.stderr, f"it is not refused: {lint.stdout}{lint.stderr}"
            return
        assert lint.returncode == 0, f"lint ends with {lint.returncode}: {lint.stderr}"
        assert "no template, launch or option reads this parameter" not in lint.stdout, f"lint says: {lint.stdout}"
        for first in (1, 2) if how == "seen" and runs else ():
            write(folder, "copy.lua", script(first, **fields).replace("space", f"baseline = {{ p = {first} }}, space"))
            if first == 2 and "where" in fields:
                continue  # the baseline must satisfy this constraint
            one, two = outcomes(folder)
            assert one and one[0] == "ok", f"p = 1 is {one}"
            assert two is None or two[0] != "ok", f"p = 2 is {two}"
            assert (two is None) == ("where" in fields), "p = 2 was not tried"
        if how == "told" and runs:
            assert tried_apart(folder), "the run takes them for twins"


def try_twins():
    """Checks that variants are twins if nothing depends on p. Otherwise the other cases would prove nothing."""
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "k.cu", COPY)
        write(folder, "r.cu", REFERENCE)
        write(folder, "copy.lua", script(1))
        assert not tried_apart(folder), "twins are tried apart"


def main():
    wrong = []
    known = known_fields()
    for place in sorted(known.keys() | CASES.keys()):
        have = {k if isinstance(k, str) else k[1] for k in CASES.get(place, {})}
        if place not in CASES or have != set(known.get(place, [])):
            wrong.append(f"{place}: the program knows {known.get(place)}, and there are cases for {sorted(have)}")
    every = 3 if "sample" in sys.argv else 1
    for i, (place, field) in enumerate((p, f) for p, cases in CASES.items() for f in cases):
        case = CASES[place][field]
        try:
            if case not in (LITERAL, OUTSIDE):
                try_case(i % every == 0, *case)
        except AssertionError as e:
            wrong.append(f"{place}.{field}: {e}")
    try_twins()
    print("\n".join(wrong) or "every field makes another variant")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
