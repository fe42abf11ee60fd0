load helpers

# Writes a record of the pattern `scale`, which has no script, on one GPU.
record() { # record FOLDER GPU CAPABILITY
    mkdir -p "$1"
    cat >"$1/scale.json" <<END
{"schema": "autotune-record", "version": 1, "pattern": "scale", "gpu": "$2",
 "compute_capability": "$3", "entries": [{"problem": {"n": 4096}, "configuration": {"block": 128},
 "baseline": {"configuration": {"block": 64}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
}

@test "a pattern is exported from its records without a script" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    record results/nvidia-a100 "NVIDIA A100" 8.0
    tool export scale --format header -o scale.h
    succeeds
    [ -z "$output" ]
    cat >main.c <<END
#include "scale.h"
#include <stdio.h>
int main(void)
{
    autotune_scale_problem p = {4096};
    autotune_device d = autotune_device_named("NVIDIA A100", 8, 0);
    autotune_scale_choice c = autotune_scale_find(&d, &p);
    printf("%s %d\n", autotune_rule_name(c.rule), c.config.block);
    d = autotune_device_named("NVIDIA V100", 7, 0);
    c = autotune_scale_find(&d, &p);
    printf("%s %d\n", autotune_rule_name(c.rule), c.config.block);
    return 0;
}
END
    cc -std=c11 -Wall -Wextra -Werror -pedantic main.c -o c
    c++ -std=c++17 -Wall -Wextra -Werror -pedantic -Wno-missing-field-initializers -Wold-style-cast -x c++ main.c -o cpp
    [ "$(./c)" = "exact 128
default 64" ]
    [ "$(./cpp)" = "$(./c)" ]
}

@test "records of a GPU that is given by name and capability are found, in C++ at compile time" {
    tool export transpose --results "$BATS_TEST_DIRNAME/../../results" -o transpose.h
    succeeds
    for gpu in '"NVIDIA H200", 9, 0' '"NVIDIA H200", 3, 5'; do
        cat >main.c <<END
#include "transpose.h"
#include <stdio.h>
#ifdef __cplusplus
constexpr auto device = autotune_device_named($gpu);
constexpr autotune_transpose_problem problem = {8192, 8192, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT};
constexpr auto choice = autotune_transpose_find(&device, &problem);
template <int tile> int made() { return tile; }
int main()
{
    printf("%s %d\n", autotune_rule_name(choice.rule), made<choice.config.tile_x>());
}
#else
int main(void)
{
    autotune_transpose_problem problem = {8192, 8192, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT};
    autotune_device device = autotune_device_named($gpu);
    autotune_transpose_choice choice = autotune_transpose_find(&device, &problem);
    printf("%s %d\n", autotune_rule_name(choice.rule), choice.config.tile_x);
    return 0;
}
#endif
END
        cc -std=c11 -Wall -Wextra -Werror -pedantic main.c -o c
        c++ -std=c++17 -Wall -Wextra -Werror -pedantic -Wno-missing-field-initializers -x c++ main.c -o cpp
        ./c >>c.txt
        ./cpp >>cpp.txt
    done
    tile=$("$AUTOTUNE" pick transpose --results "$BATS_TEST_DIRNAME/../../results" --gpu nvidia-h200 --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["configuration"]["tile_x"])')
    [ "$(head -1 c.txt)" = "exact $tile" ]
    # The limits of an unknown capability are unknown, so no configuration is possible.
    [ "$(tail -1 c.txt | cut -d " " -f 1)" = none ]
    cmp c.txt cpp.txt
}

@test "an installed pattern without results exports its default and says so" {
    mkdir none
    tool export transpose --results none
    succeeds
    says "autotune_transpose_config autotune_transpose_default(void)"
    [[ "$errors" == *"there are no results for transpose in none: only the script's default is exported"* ]]
    tool export transpose --results absent
    fails_with 2 "there is no folder of results; looked for absent"
    mkdir -p none/gpu
    echo '{' >none/gpu/transpose.json
    tool export transpose --results none
    fails_with 1 "left out: none/gpu/transpose.json:"
    says "autotune_transpose_config autotune_transpose_default(void)"
}

@test "autotune_embed() refuses a header of another pattern" {
    embed() { cmake -D HEADER=t.h -D PATTERN=$1 -D SCRIPT=t.lua -P "$BATS_TEST_DIRNAME/../../tuner/cmake/AutotuneEmbed.cmake"; }
    for format in header cuda; do
        [ $format = header ] && output=t.h || output=t.cu
        tool export vector_add --format $format -o $output
        succeeds
        embed vector_add
        run embed vector_ad
        [ "$status" -ne 0 ]
        [[ "$output" == *"t.lua is the pattern vector_add"* ]]
        [ ! -e t.h ]
    done
}

@test "the records that come with autotune are found in any folder, and their GPUs by short names" {
    tool export transpose
    succeeds
    [ -z "$errors" ]
    for gpu in 'NVIDIA H200' nvidia-h200 h200 H200; do
        tool pick transpose --gpu "$gpu"
        succeeds
        says 'on NVIDIA H200 (9.0)'
    done
    tool pick transpose --gpu h200 --results none
    fails_with 2 "there are no results at all"
}

@test "an unknown pattern is a usage error" {
    tool export nothing
    fails_with 2 "there are no results for 'nothing' either"
}

@test "an unknown format lists the known ones" {
    tool export transpose --format xml
    fails_with 2 "--format takes header, cuda, json, wisdom or t4, not 'xml'"
}

@test "a damaged record is named with its line, and stays" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    printf '{\n"schema": oops' >results/nvidia-h200/scale.json
    cp results/nvidia-h200/scale.json before
    tool export scale
    [ "$status" -ne 0 ]
    [[ "$errors" == *"nvidia-h200/scale.json:2"* ]]
    cmp before results/nvidia-h200/scale.json
}

@test "a full disk leaves no header behind" {
    tool export transpose -o /dev/full
    [ "$status" -ne 0 ]
    [[ "$errors" == *"No space left on device"* ]]
}

@test "a full disk leaves no half-written file of several files" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    tool export scale --format t4 -o /dev/full
    [ "$status" -ne 0 ]
    [[ "$errors" == *"No space left on device"* ]]
}

# Writes the same record as record(), for a pattern of another name.
record_called() { # record_called NAME FOLDER GPU CAPABILITY
    record "$2" "$3" "$4"
    sed "s/\"pattern\": \"scale\"/\"pattern\": \"$1\"/" "$2/scale.json" >"$2/$1.json"
}

@test "several patterns share one header, which finds the same choices as separate headers" {
    record_called twist results/nvidia-h200 "NVIDIA H200" 9.0
    tool export scale twist -o both.h
    succeeds
    cat >main.c <<END
#include "both.h"
#include <stdio.h>
int main(void)
{
    autotune_scale_problem p = {4096};
    autotune_twist_problem q = {4096};
    autotune_device d = autotune_device_named("NVIDIA H200", 9, 0);
    printf("%d %d\n", autotune_scale_find(&d, &p).config.block, autotune_twist_find(&d, &q).config.block);
    return 0;
}
END
    cc -std=c11 -Wall -Wextra -Werror -pedantic main.c -o c
    [ "$(./c)" = "128 128" ]
    tool export scale twist -o apart/
    succeeds
    [ "$(ls apart)" = "scale.h
twist.h" ]
    tool export scale scale
    fails_with 2 "'scale' is named twice"
}

@test "patterns whose names would collide in a header are refused" {
    record_called Scale results/nvidia-h200 "NVIDIA H200" 9.0
    mkdir -p results/nvidia-a100
    for name in scale scale_a; do
        column=$([ "$name" = scale ] && echo a_b || echo b)
        cat >results/nvidia-h200/$name.json <<END
{"schema": "autotune-record", "version": 1, "pattern": "$name", "gpu": "G",
 "compute_capability": "9.0", "entries": [{"problem": {"n": 1}, "configuration": {"$column": "x"},
 "baseline": {"configuration": {"$column": "y"}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
    done
    tool export scale scale_a
    fails_with 2 "would both define AUTOTUNE_SCALE_A_B_X"
}

@test "json contains the complete records and conforms to its schema" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    record results/nvidia-a100 "NVIDIA A100" 8.0
    tool export scale transpose --results results --format json -o all.json
    succeeds
    python3 - "$BATS_TEST_DIRNAME/../../tuner/schemas/export.json" <<'END'
import json, sys
d = json.load(open("all.json"))
scale, transpose = d["patterns"]
assert scale["records"] == [json.load(open(f"results/nvidia-{g}/scale.json")) for g in ("a100", "h200")]
assert scale["default"] == {"block": 64}
assert transpose["records"] == [] and transpose["default"]["tile_x"] == 32
assert any("load_vec" in c for c in transpose["constraints"])
try:
    import jsonschema
except ImportError:
    sys.exit()
schema = json.load(open(sys.argv[1]))
jsonschema.validate(d, schema)
d["patterns"][0]["records"][0]["entries"][0]["time"]["median_ns"] = "fast"
try:
    jsonschema.validate(d, schema)
except jsonschema.ValidationError:
    sys.exit()
sys.exit("the schema allows anything")
END
}

# Writes records of several GPUs, problems and contenders.
measured() {
    for gpu in "NVIDIA H200" "NVIDIA A100"; do
        folder=results/$(echo "$gpu" | tr 'A-Z ' 'a-z-')
        mkdir -p "$folder"
        cat >"$folder/scale.json" <<END
{"schema": "autotune-record", "version": 1, "pattern": "scale", "gpu": "$gpu",
 "compute_capability": "9.0", "entries": [
 {"problem": {"n": 4096, "dtype": "float"}, "configuration": {"block": 128, "cached": true},
  "baseline": {"configuration": {"block": 64, "cached": true}}, "speedup": 2,
  "time": {"median_ns": 1000000, "low_ns": 990000, "high_ns": 1010000}},
 {"problem": {"n": 8192, "dtype": "half"}, "configuration": {"block": 256, "cached": false},
  "baseline": {"configuration": {"block": 64, "cached": true}},
  "time": {"median_ns": 3000000, "low_ns": 2990000, "high_ns": 3010000}}]}
END
    done
}

@test "wisdom is a file for each key, with the names and contents of Kernel Launcher" {
    measured
    tool export scale --format wisdom -o wisdom/
    succeeds
    [ "$(ls wisdom)" = "scale_float.wisdom
scale_half.wisdom" ]
    python3 - <<'END'
import json
head, *lines = [json.loads(l) for l in open("wisdom/scale_float.wisdom")]
assert head == {"version": "1.0", "objective": "time", "tunable_parameters": ["block", "cached"], "key": "scale_float"}
assert [l["environment"]["device_name"] for l in lines] == ["NVIDIA A100", "NVIDIA H200"]
for l in lines:
    assert l["config"] == [128, True] and l["problem_size"] == [4096] and l["time"] == 1.0
END
    tool export scale --format wisdom -o one.wisdom
    fails_with 2 "this makes 2 files (scale_float.wisdom, scale_half.wisdom)"
    tool replay wisdom/scale_float.wisdom --repeat 1
    succeeds
    says "optimum 1 (time)"
    cp "$FIXTURES"/scale* .
    tool space scale.lua --arch sm_90
    succeeds
    echo '{"config": [1], "time": 2}' >>wisdom/scale_float.wisdom
    tool replay wisdom/scale_float.wisdom
    [ "$status" -ne 0 ]
    [[ "$errors" == *"wisdom/scale_float.wisdom:4"* ]]
}

@test "a problem of four sizes cannot be exported as wisdom" {
    mkdir -p results/g
    cat >results/g/four.json <<END
{"schema": "autotune-record", "version": 1, "pattern": "four", "gpu": "G",
 "compute_capability": "9.0", "entries": [{"problem": {"a": 1, "b": 2, "c": 3, "d": 4},
 "configuration": {"block": 128}, "baseline": {"configuration": {"block": 64}},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
    tool export four --format wisdom
    fails_with 2 "a problem of four has 4 sizes"
}

@test "t4 is a file for each GPU and problem with the default, and can be read again" {
    measured
    tool export scale --format t4 -o t4/
    succeeds
    [ "$(ls t4 | wc -l)" -eq 4 ]
    [ -f t4/scale.nvidia-h200.4096-float.json ]
    python3 - <<'END'
import json
d = json.load(open("t4/scale.nvidia-h200.4096-float.json"))
assert d["metadata"]["device"] == "NVIDIA H200" and d["metadata"]["kernel"] == "scale"
assert [(r["configuration"]["block"], r["measurements"][0]["value"]) for r in d["results"]] == [(128, 1.0), (64, 2.0)]
END
    tool convert t4/scale.nvidia-h200.4096-float.json --format kernel-tuner
    succeeds
    cp "$FIXTURES"/scale* .
    tool scale.lua --set n=4096 --device sim:sm_90 --budget 2 --warm-start t4/scale.nvidia-h200.4096-float.json --no-record
    succeeds
    tool export transpose --results . --format t4
    fails_with 2 "there are no records of transpose"
}

@test "an exported file has the requested name, even with letters beyond ASCII" {
    recorded=$BATS_TEST_DIRNAME/../../results
    for name in über $'\xff\n' "a$(printf 'ü%.0s' {1..90})" "$(printf 'n%.0s' {1..150})"; do
        tool export dot --results "$recorded" -o "$name.h"
        succeeds
        [ -s "$name.h" ]
    done
    tool export transpose --results . --format cuda -o über.cu
    succeeds
    header=$(sed -n 's/^#include "\(.*\)"$/\1/p' über.cu)
    [ -s "$header" ]
}

@test "kernels for a portfolio's problems are exported if other problems of its range can use these kernels" {
    recorded=$BATS_TEST_DIRNAME/../../results
    tool export dot --results "$recorded" --format cuda -o dot.cu
    succeeds
    problems=$(python3 - "$recorded"/*/dot.json <<'PY'
import json, sys
records = [json.load(open(path)) for path in sys.argv[1:]]
assert any(r.get("portfolios") for r in records)
print(len({json.dumps(e["problem"], sort_keys=True) for r in records for e in r["entries"]}))
PY
    )
    [[ "$errors" == *" kernels for $problems problem"* ]]
}

@test "kernels are exported for each recorded problem and those of --over, and a message says that other problems have none" {
    tool export transpose --results . --format cuda -o out/
    succeeds
    [ "$(ls out)" = "transpose.cu
transpose.h" ]
    [[ "$errors" == *"transpose: 1 kernel for 1 problem; values of rows, cols, dtype are compiled in"* ]]
    tool export transpose --results . --format cuda --over rows=64,128 --over cols=32 --over dtype=float,half -o t.cu
    succeeds
    [[ "$errors" == *"transpose: 4 kernels for 4 problems"* ]]
    [ "$(grep -c '^namespace autotune_transpose_kernel_' t.cu)" -eq 4 ]
    grep -q '#include "t.h"' t.cu
    # The look-up must return only configurations that have a kernel.
    cat >main.c <<END
#include "t.h"
#include <stdio.h>
int main(void)
{
    autotune_transpose_problem p = {64, 32, AUTOTUNE_TRANSPOSE_DTYPE_HALF};
    autotune_device d = autotune_device_named("any", 9, 0);
    autotune_plan plan;
    autotune_transpose_choice c = autotune_transpose_find(&d, &p);
    printf("%s %d", autotune_rule_name(c.rule), autotune_transpose_evaluate(&d, &p, &c.config, &plan));
    printf(" %u %u\n", plan.launches[0].grid[0], plan.launches[0].block[0]);
    p.rows = 65;
    printf("%s\n", autotune_rule_name(autotune_transpose_find(&d, &p).rule));
    return 0;
}
END
    cc -std=c11 -Wall -Wextra -Werror -pedantic -DAUTOTUNE_WITHOUT_CUDA main.c -o c
    [ "$(./c)" = "default 1 2 256
none" ]
    cc -E -DAUTOTUNE_WITHOUT_CUDA main.c >/dev/null
    c++ -std=c++17 -Wall -Wextra -Werror -pedantic -Wno-missing-field-initializers -Wold-style-cast -DAUTOTUNE_WITHOUT_CUDA -x c++ main.c -o cpp
    [ "$(./cpp)" = "$(./c)" ]
}

@test "an export of kernels shows its progress on a terminal, unless --quiet is given" {
    PYTHONPATH=$BATS_TEST_DIRNAME python3 - "$AUTOTUNE" <<'PY'
import os, sys
from terminal import run_on_terminal
for options, shown in (["--jobs", "1"], True), (["--quiet"], False):
    said, child, _ = run_on_terminal([sys.argv[1], "export", "vector_add", "--results", ".", "--format", "cuda", "-o", "out/", *options],
                                     "stderr", env=dict(os.environ, TERM="xterm"))
    assert child.returncode == 0 and (b"problems 0/1" in said) == shown, said
PY
}

@test "patterns without kernels for a file are refused with the reason" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    tool export scale --format cuda -o scale.cu
    fails_with 2 "the kernels of 'scale' are made from its script, which was not found"
    tool export transfer --format cuda -o transfer.cu
    fails_with 2 "'transfer' moves data between host and device"
    tool export transpose --format cuda
    fails_with 2 "makes two files, the kernels and a header: name them with -o FILE.cu, or a folder for them with -o FOLDER/"
    tool export transpose --format cuda -o transpose.c
    fails_with 2 "its name must end in .cu"
    tool export transpose --format cuda --over rws=5 -o transpose.cu
    fails_with 2 "transpose has no variable 'rws'"
    tool export transpose --over rows=5
    fails_with 2 "--over is for kernels"
    cp "$FIXTURES"/scale* .
    sed -i 's/entry = "scale",/entry = "scale", options = { "--use_fast_math" },/' scale.lua
    tool export scale.lua --format cuda -o scale.cu
    fails_with 2 "need the compiler option --use_fast_math"
    cp "$FIXTURES"/scale* .
    sed -i 's/grid = "ceil_div(n, block \* vec)"/grid = "#tostring(n)"/' scale.lua
    tool export scale.lua --format cuda -o scale.cu
    fails_with 2 "launch.grid"
    [[ "$errors" == *"scale.lua:"*"cannot be translated to C"* ]]
    [ ! -e scale.cu ]
}

# Writes a pattern whose names and texts are keywords, ends of comments, line ends and trigraphs.
hostile() {
    cat >hostile.lua <<'END'
local at = require "autotune"
return at.pattern {
  name = "hostile", summary = "*/",
  problem = { double = 64, word = at.one_of { "*/ x", "#error line", "back\\" } },
  ragged = false,
  space = {
    int = { "*/ int x; /*", "quote\"", "??/", "back\\", "// \\" },
    register = { 32, 64 },
  },
  baseline = { int = "*/ int x; /*" },
  buffers = {
    new = at.input { dtype = "float", count = "double" },
    class = at.output { dtype = "float", count = "double" },
  },
  kernel = { template = "hostile.cu.tmpl", entry = "copy", args = { "new", "class", at.int32("double") } },
  launch = { grid = "ceil_div(double, register)", block = "register" },
  traffic = "8 * double",
  reference = at.reference { template = "hostile.cu.tmpl" },
}
END
    cat >hostile.cu.tmpl <<'END'
#define LIMIT "extern \"C\" */ /*"
/* extern "C" { */
extern "C" __global__ void copy(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; // }
    const char *text = LIMIT "${word == "back\\" and "b" or "c"}";
    if (i < n && text[0])
        to[i] = from[i];
}
END
    mkdir -p results/g
    cat >results/g/hostile.json <<'END'
{"schema": "autotune-record", "version": 1, "pattern": "hostile", "gpu": "*/ \\ ??/ \"", "compute_capability": "9.0",
 "entries": [{"problem": {"double": 64, "word": "back\\"}, "configuration": {"int": "// \\", "register": 32},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}},
 {"problem": {"double": 128, "word": "*/ x"}, "configuration": {"int": "??/", "register": 64},
 "time": {"median_ns": 1000, "low_ns": 990, "high_ns": 1010}}]}
END
}

@test "names and texts that look like code are exported as names and texts" {
    hostile
    tool export hostile.lua --format cuda -o hostile.cu
    succeeds
    cat >main.c <<'END'
#include "hostile.h"
#include <stdio.h>
int main(void)
{
    autotune_hostile_problem p = {128, AUTOTUNE_HOSTILE_WORD____X};
    autotune_device d = autotune_device_named("*/ \\ ?\?/ \"", 9, 0);
    autotune_hostile_choice c = autotune_hostile_find(&d, &p);
    autotune_plan plan;
    printf("%s %s %d\n", autotune_rule_name(c.rule), autotune_hostile_int__kind_name(c.config.int_),
           autotune_hostile_evaluate(&d, &p, &c.config, &plan));
    return 0;
}
END
    for compiler in "cc -std=c11" "c++ -std=c++17 -x c++"; do
        $compiler -Wall -Wextra -Werror -pedantic -trigraphs -Wno-missing-field-initializers -DAUTOTUNE_WITHOUT_CUDA main.c -o main
        [ "$(./main)" = "exact ??/ 1" ]
    done
    for format in json wisdom t4; do
        tool export hostile.lua --format $format -o $format/
        succeeds
        python3 -c 'import json, sys; [[json.loads(l) for l in open(f)] if f.endswith("wisdom") else json.load(open(f)) for f in sys.argv[1:]]' $format/*
    done
    command -v nvcc >/dev/null || skip "there is no nvcc"
    nvcc -std=c++17 -arch=sm_90 -Werror all-warnings -c hostile.cu -o hostile.o
}

@test "without NVRTC kernels are exported as sources only, with a message" {
    AUTOTUNE_NVRTC=$PWD/absent tool export transpose dot --results . --format cuda -o t.cu
    succeeds
    [ "$(grep -c 'the file has no PTX.*: NVRTC, .* cannot be opened' <<<"$errors")" -eq 1 ]
    lacks 'ifdef AUTOTUNE_PTX' t.cu
    unset AUTOTUNE_NVRTC
    tool export transpose dot --results . --format cuda -o t.cu
    succeeds
    [ "$(grep -c 'ifdef AUTOTUNE_PTX' t.cu)" -eq 2 ]
    lacks 'no PTX' <<<"$errors"
}

# ---- templates ----

# Prints a C++ program that prints results of a selector and of a table of `scale`.
scale_consumer() {
    cat <<END
#include "policy.h"
#include "table.h"
#include <cstdio>
#ifndef __CUDACC__
#define __host__
#define __device__
#endif
struct capability {
    int of;
    __host__ __device__ constexpr int get() const { return of; }
};
constexpr auto newest = autotune_scale::policy_selector{}(capability{90});
static_assert(newest.block == 128 && autotune_scale::policy_selector{}(70).block == 64, "constexpr");
static_assert(autotune_scale::get_config(800, 4096).block == 128, "constexpr");
int main()
{
    std::printf("%d %d %d %d\n", autotune_scale::policy_selector{}(100).block, autotune_scale::policy_selector{}(75).block,
                autotune_scale::get_config(900, 4096).block, autotune_scale::get_config(900, 4097).block);
}
END
}

@test "the templates of a CUB policy selector and a table for ggml are constexpr in g++ and nvcc" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    record results/nvidia-a100 "NVIDIA A100" 8.0
    tool export scale --template cub_policy.cuh -o policy.h
    succeeds
    tool export scale --template ggml_configs.h -o table.h
    succeeds
    scale_consumer >main.cpp
    c++ -std=c++17 -Wall -Wextra -Werror -pedantic main.cpp -o main
    [ "$(./main)" = "128 64 128 64" ]
    if nvcc --version >nvcc.txt 2>&1; then
        cp main.cpp main.cu
        nvcc -std=c++17 -Werror all-warnings -arch=compute_90 -c main.cu -o main.o
    fi
}

@test "the same templates compile for the records of real patterns" {
    for kind in cub_policy.cuh ggml_configs.h; do
        tool export transpose matmul histogram conv2d --template $kind --results "$BATS_TEST_DIRNAME/../../results" -o all.h
        succeeds
        echo '#include "all.h"' >all.cpp
        c++ -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only all.cpp
    done
}

@test "configurations by the device's name are exported as JSON" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    record results/nvidia-a100 "NVIDIA A100" 8.0
    tool export scale --template by_device.json
    succeeds
    python3 -c 'import json, sys
devices = json.loads(sys.argv[1])
assert sorted(devices) == ["NVIDIA A100", "NVIDIA H200"], devices
assert devices["NVIDIA H200"]["scale"] == [
    {"problem": {"n": 4096}, "configuration": {"block": 128}, "time_ns": 1000}]' "$output"
}

@test "a user's template writes one file, several files, or one file for each pattern" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    cat >mine.txt.tmpl <<'END'
% for _, p in ipairs(patterns) do
%   for _, row in ipairs(p.rows) do
${row.record.gpu} ${json(row.configuration)}
%   end
% end
END
    tool export scale --template mine.txt.tmpl
    succeeds
    [ "$output" = 'NVIDIA H200 {"block":128}' ]
    tool export scale --template mine.txt.tmpl -o folder/
    succeeds
    [ "$(cat folder/scale.txt)" = 'NVIDIA H200 {"block":128}' ]
    cat >several.tmpl <<'END'
% for _, p in ipairs(patterns) do
%   file(p.name .. ".a")
a
%   file(p.name .. ".b")
b
% end
END
    tool export scale --template several.tmpl -o out/
    succeeds
    [ "$(cat out/scale.a)$(cat out/scale.b)" = ab ]
    tool export scale --template several.tmpl
    fails_with 2 "this makes 2 files (scale.a, scale.b): name a folder"
}

@test "errors in a template have its file, its line and a remedy" {
    record results/nvidia-h200 "NVIDIA H200" 9.0
    printf 'a\n${patterns[1].nmae}\n' >mine.tmpl
    tool export scale --template mine.tmpl
    [ "$status" -ne 0 ]
    [[ "$errors" == *"mine.tmpl:2: there is no member 'nmae' here; did you mean 'name'?"* ]]
    printf 'a\n%% for i = 1, 2 do\n' >mine.tmpl
    tool export scale --template mine.tmpl
    [ "$status" -ne 0 ]
    [[ "$errors" == *"mine.tmpl:2: 'end' expected"* ]]
    printf '%% while true do end\n' >mine.tmpl
    tool export scale --template mine.tmpl
    [ "$status" -ne 0 ]
    [[ "$errors" == *"mine.tmpl:1: "*"does every loop end?"* ]]
    printf '%% io.open("x")\n' >mine.tmpl
    tool export scale --template mine.tmpl
    [ "$status" -ne 0 ]
    [[ "$errors" == *"mine.tmpl:1: there is no 'io'"* ]]
    printf '%% refuse("no kernel of " .. patterns[1].name)\n' >mine.tmpl
    tool export scale --template mine.tmpl
    fails_with 2 "no kernel of scale"
    tool export scale --template none.tmpl
    fails_with 2 "--template none.tmpl: there is no such file"
}
