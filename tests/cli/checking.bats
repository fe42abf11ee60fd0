load helpers

@test "check proves a script's default without a GPU" {
    tool check "$FIXTURES/scale.lua" --device sim:sm_90
    succeeds
    says 'proven '
    says 'the small problem n=16384, the ragged problem n=1003, blocks of the tuned problem n='
    says ': 1 proven, 0 wrong, 0 not proven'
}

@test "check reports line, thread and buffer of a fault, and exits with 1" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/if (i + ${k} < n)/if (i + ${k} <= n)/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'on the ragged problem n=1003: out of bounds in scale at scale.cu.tmpl:1'
    says 'thread (235,0,0) of block (3,0,0): read of 4 bytes'
    says '0 bytes after the end of src (4012 bytes)'
}

@test "check draws variants of the space at random" {
    tool check "$FIXTURES/scale.lua" --device sim:sm_90 --budget 5 --json
    succeeds
    says '"proven": 5'
}

@test "check ends when its time is up, and says how many variants it left out" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/^{$/{ for (int k = 0; k < 1 << 14; k++) __nanosleep(0);/' scale.cu.tmpl # each variant takes some seconds
    local before=${EPOCHREALTIME/./}
    tool check scale.lua --device sim:sm_90 --budget 1s --jobs 1
    local took_ms=$(((${EPOCHREALTIME/./} - before) / 1000))
    says 'left out: the time was up'
    [ "$took_ms" -lt 2600 ] || { echo "took $took_ms ms"; return 1; } # 1.1 s + 0.5 s, plus one second for a busy machine
    tool check "$FIXTURES/scale.lua" --device sim:sm_90 --only block=128 --budget 10m --json
    succeeds
    [ "$(jq '.left_out' out.txt)" -eq 0 ]
    [ "$(jq '.proven' out.txt)" -gt 1 ]
}

@test "a kernel that the simulator cannot run is not called proven" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/^{$/{ asm volatile("brkpt;");/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    [ "$status" -eq 3 ]
    says 'not proven'
    says 'brkpt'
}

@test "an instruction that the simulator lacks does not prevent a proof if no thread executes it" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/^{$/{ if (blockDim.y > 1) asm volatile("brkpt;");/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    succeeds
    says '1 proven'
}

@test "a pattern may have several ragged problems, and a warning names variants that all of these exclude" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/ragged  = { n = 1003 }/ragged = { { n = 1003 }, { n = 1002 } }/' scale.lua
    tool check scale.lua --device sim:sm_90
    succeeds
    says 'the ragged problem n=1003, the ragged problem n=1002'
    tool space scale.lua --arch sm_90
    succeeds
    [[ $errors == *"of"*"configurations break a constraint on every ragged problem"* ]]
    sed -i 's/{ n = 1002 }/{ n = 1004 }/' scale.lua
    tool space scale.lua --arch sm_90
    [ -z "$errors" ]
}

@test "the summary says for how many variants the ragged problem broke a constraint" {
    tool "$FIXTURES/scale.lua" --device sim:sm_90 --budget 36 --quiet --json
    succeeds
    says 'variants break a constraint on every ragged problem, so their edges were not checked'
}

@test "check names the least covered of several proven variants, and a missing ragged problem" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/ragged  = { n = 1003 },*//' scale.lua
    tool check scale.lua --set n=134217728 --budget 3
    succeeds
    says 'least covered of these was '
    says "of the tuned problem's"
    says 'no ragged problem: sizes that no block divides were not checked'
    tool check "$FIXTURES/scale.lua"
    says_nothing_of 'no ragged problem'
}

@test "too many ragged problems are refused" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/ragged  = { n = 1003 }/ragged = { { n = 1 }, { n = 2 }, { n = 3 }, { n = 4 } }/' scale.lua
    tool check scale.lua --device sim:sm_90
    fails_with 2 "ragged has 4 items; at most 3 are allowed"
}

@test "variants that read a texture and variants that read memory are proven" {
    tool check textured.lua --only block_x=32 --only block_y=4 --budget 2 --device sim:sm_90
    succeeds
    says '2 proven, 0 wrong, 0 not proven'
}

# Moves the fixture's kernel to a file, which its template includes.
included() {
    cp "$FIXTURES"/scale_ref.cu.tmpl "$FIXTURES"/scale.lua .
    cat >tile.cuh <<'CUDA'
static __device__ __forceinline__ float pick(const float *from, long long i)
{
    return from[i + REACH];
}

extern "C" __global__ void scale(const float *src, float *dst, long long n, double factor)
{
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        dst[i] = (float)((double)pick(src, i) * factor);
}
CUDA
    printf '#define BLOCK (%s)\n#define REACH %s\n#include "%s"\n' '${block * vec}' "$1" "${2:-tile.cuh}" >scale.cu.tmpl
    sed -i 's/block = "block"/block = "block * vec"/' scale.lua
}

@test "a fault in an included file is at the line of the access, under the name that the template gives it" {
    included 1
    tool check scale.lua --device sim:sm_90 --config block=64,vec=1,cached=true
    [ "$status" -eq 1 ]
    says 'out of bounds in scale at tile.cuh:3, inlined at tile.cuh:10 (ld.global.f32'
}

@test "explain shows the lines of included files" {
    included 0
    tool explain scale.lua --device sim:sm_90 --config block=64,vec=1,cached=true
    succeeds
    says 'tile.cuh'
    grep -qE 'load +3 +return from' out.txt
    grep -qE 'store +10 +dst.i. =' out.txt
    tool explain scale.lua --device sim:sm_90 --config block=64,vec=1,cached=true --json
    grep -q '"file": "tile.cuh"' out.txt
}

@test "explain compiles a template that includes a file of the pattern's name" {
    included 0 scale.cu
    mv tile.cuh scale.cu
    tool explain scale.lua --device sim:sm_90 --config block=64,vec=1,cached=true
    succeeds
    says 'scale.cu'
    says 'Every line moves whole sectors'
}

@test "if the reference does not compile, the error has the compiler's message and line" {
    cp "$FIXTURES"/scale* .
    sed -i 's/^{$/{ nothing;/' scale_ref.cu.tmpl
    tool check scale.lua --device sim:sm_90
    fails_with 2 'the reference kernel cannot be compiled'
    [[ $errors == *'scale_ref.cu.tmpl('*'identifier "nothing" is undefined'* ]]
    tool explain scale.lua --device sim:sm_90
    [ "$status" -eq 2 ]
    says 'Nothing says that it is right: the reference kernel cannot be compiled'
    tool explain scale.lua --device sim:sm_90 --json
    [ "$status" -eq 2 ]
    says '"unproven": "the reference kernel cannot be compiled'
    says_nothing_of 'write ${'
    sed -i 's/{ nothing;/{ dtype;/' scale_ref.cu.tmpl
    tool check scale.lua --device sim:sm_90
    fails_with 2 "A template has no macros of the kernel's file: write \${dtype}"
}

@test "if a kernel that prepares inputs does not compile, the message does not call it the reference" {
    cp "$FIXTURES"/scale* .
    echo 'extern "C" __global__ void prepare(float *src) { src[0] = nothing; }' >prepare.tmpl
    sed -i 's/reference = at.reference/prepare = at.kernel { template = "prepare.tmpl", args = { "src" }, grid = 1, block = 1 },\n  &/' scale.lua
    tool check scale.lua --device sim:sm_90
    fails_with 2 'the kernel that prepares inputs cannot be compiled'
    [[ $errors == *'prepare.tmpl(1): error: identifier "nothing" is undefined'* ]]
}

@test "check shows a kernel's printf output, as text and as JSON" {
    cp "$FIXTURES"/scale* .
    sed -i '0,/^{$/s//{\n    if (blockIdx.x == 2 \&\& threadIdx.x == 5) printf("%d of %lld: %.1f\\n", 5, n, factor);/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    succeeds
    says '| 5 of 16384: 3.0'
    says_nothing_of '1003'$': 3.0'
    tool check scale.lua --device sim:sm_90 --json
    succeeds
    says '"printed": "5 of 16384: 3.0\n"'
}

@test "an assertion that fails is wrong, with its text" {
    cp "$FIXTURES"/scale* .
    sed -i '0,/^{$/s//{\n    assert(n != 1003);/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'on the ragged problem n=1003: assertion failed in scale at scale.cu.tmpl:'
    says ': n != 1003 (scale.cu.tmpl:'
}

@test "a message about an endless kernel has the line of its loop" {
    cp "$FIXTURES"/scale* .
    sed -i '0,/^{$/s//{\n    for (unsigned char c = 0; c < 256; c++)\n        if (n < 0) dst[0] = c;/' scale.cu.tmpl
    line=$(grep -n 'unsigned char' scale.cu.tmpl | cut -d: -f1)
    tool check scale.lua --device sim:sm_90 --config block=1024,vec=1,cached=true
    [ "$status" -ne 0 ]
    says "in scale at scale.cu.tmpl:$line ("
}

@test "if the script allows differences, check says how many results differ" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/  tolerance = 0,/  tolerance = at.mismatches(2),/' scale.lua
    sed -i 's/src\[i + ${k}\] \* factor)/src[i + ${k}] * factor) + (i == 77)/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90 --json
    succeeds
    said='1 of 16384 elements of dst on the small problem n=16384, 1 of 1003 elements of dst on the ragged problem n=1003'
    [[ "$(jq -r '.. | .allowed? // empty' out.txt)" == *"$said"* ]] || { cat out.txt; return 1; }
    tool check scale.lua --device sim:sm_90
    says 'results that differ, as at.mismatches() allows: 1 of 16384 elements of dst on the small problem'
    sed -i 's/at.mismatches(2)/0/' scale.lua
    tool check scale.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says '1 of 16384 elements of dst are wrong, first dst[77]'
}

# large BODY: writes a pattern with buffers of 8 GiB, the kernel BODY, and a simulated problem
large() {
    cat >large.lua <<'EOF'
local at = require "autotune"
return at.pattern {
  name = "large", problem = { rows = 1 << 21, cols = 1 << 12 }, ragged = { rows = 37, cols = 100 },
  simulated = { rows = 64, cols = 64 },
  space = { block = { 128, 256 } },
  buffers = { src = at.input { dtype = "int8", count = "rows * cols" },
              dst = at.output { dtype = "int8", count = "rows * cols" } },
  kernel = { template = "large.tmpl", args = { "src", "dst", at.int32 "rows", at.int32 "cols" } },
  launch = { grid = "rows", block = "block" },
  traffic = "2 * rows * cols",
  reference = at.reference { template = "large_ref.tmpl", args = { "src", "dst", at.int64 "rows * cols" } },
}
EOF
    echo "extern \"C\" __global__ void large(const signed char *src, signed char *dst, int rows, int cols) { $1 }" >large.tmpl
    cat >large_ref.tmpl <<'EOF'
extern "C" __global__ void reference(const signed char *s, signed char *d, long long n)
{ long long i = blockIdx.x * 256ll + threadIdx.x; if (i < n) d[i] = s[i]; }
EOF
}

@test "check runs blocks of the script's own problem of any size, and says what it covered" {
    large 'long long row = blockIdx.x; for (int c = threadIdx.x; c < cols; c += ${block}) dst[row * cols + c] = src[row * cols + c];'
    tool check large.lua --device sim:sm_90
    succeeds
    says 'blocks of the tuned problem rows=2097152 cols=4096: 1 proven'
    says "of the tuned problem's 2,097,152 blocks were run;"
    says 'elements of these equal the reference'
    tool check large.lua --device sim:sm_90 --json
    succeeds
    python3 - <<'EOF'
import json
covered = json.load(open("out.txt"))["variants"][0]["covered"]
assert covered["tuned"]["blocks"] == 2097152 and covered["tuned"]["compared"] > 0 and covered["skipped"] is None, covered
assert "rows=64 cols=64" in covered["problems"] and "tuned problem rows=2097152" in covered["problems"], covered
EOF
}

@test "an index that wraps at the script's size is found, and the problem is named" {
    large 'int row = blockIdx.x; for (int c = threadIdx.x; c < cols; c += ${block}) dst[row * cols + c] = src[row * cols + c];'
    tool check large.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'on the tuned problem rows=2097152 cols=4096: out of bounds in large at large.tmpl:1'
}

@test "--set of a variable of the simulated problem also changes the tuned problem, and the output says so" {
    large 'int row = blockIdx.x; for (int c = threadIdx.x; c < cols; c += ${block}) dst[row * cols + c] = src[row * cols + c];'
    tool check large.lua --device sim:sm_90 --set rows=4096
    succeeds
    says 'the small problem cols=64'
    says 'blocks of the tuned problem rows=4096 cols=4096: 1 proven'
}

@test "the summary says how many proven variants ran on a problem that other variants exclude" {
    tool check "$FIXTURES/scale.lua" --device sim:sm_90 --config block=256,vec=2
    succeeds
    says 'the ragged problem n=1003 (for 0 of 1 variant), '
    tool check "$FIXTURES/scale.lua" --device sim:sm_90 --config block=256,vec=1
    succeeds
    says 'the ragged problem n=1003, '
}

@test "an interrupted check prints its verdicts, says how many are missing, and exits with 130" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/^{$/{ for (int k = 0; k < 1 << 16; k++) __nanosleep(0);/' scale.cu.tmpl # 20 variants take about 6 s
    for json in "" --json; do
        "$AUTOTUNE" check scale.lua --device sim:sm_90 --budget 20 $json >out.txt 2>err.txt &
        local pid=$!
        sleep 2.5
        kill -INT "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq 130 ]
        output=$(cat out.txt)
        [ "$(cat err.txt)" = "autotune: interrupted" ]
        [ -n "$json" ] || says ' left out: interrupted'
    done
    [ "$(jq '.variants | length' out.txt)" -gt 0 ]
    [ "$(jq '.left_out + .proven + .wrong + .unknown' out.txt)" -eq 20 ]
}

@test "the verdict names lines that never ran and loops that never had a second iteration" {
    large 'long long row = blockIdx.x;
for (int c = threadIdx.x; c < cols; c += ${block}) dst[row * cols + c] = src[row * cols + c];
int sum = 0;
#pragma unroll 1
for (int k = 0; k < rows >> 21; k++)
    sum += src[row * cols + k] * k;
if (sum > 1 || rows == 3)
    dst[row * cols + sum] = src[sum] / rows;'
    tool check large.lua --device sim:sm_90
    [ "$status" -eq 3 ]
    says 'on the larger problem rows=8388608 cols=64: '
    says 'on other problems the loop at large.tmpl:5, as compiled, never had two iterations'
    sed -i 's/rows = 1 << 21/rows = at.within(1 << 21, 1, 1 << 21)/' large.lua
    tool check large.lua --device sim:sm_90
    succeeds
    says 'never executed, as compiled: large.tmpl:8'
    says 'loops whose body, as compiled, ran once at most (it may hold several rounds), whatever the problem: large.tmpl:5'
}

@test "a larger problem that no GPU can launch is no fault, and --set is blamed only for its own value" {
    cat >tall.cu <<'END'
/* autotune
problem = { rows = 4096, cols = 32 }
space   = { BY = { 8, 2 } }
launch  = { grid = { 1, "ceil_div(rows, BY)" }, block = { 32, "BY" } }
sizes   = { src = "rows * cols", dst = "rows * cols" }
outputs = { "dst" }
*/
#define BY 8
__global__ void tall(const float *src, float *dst, int rows, int cols)
{
    int r = blockIdx.y * BY + threadIdx.y;
    if (r >= rows)
        return;
#pragma unroll 1
    for (int c = threadIdx.x; c < cols; c += 1024)
        dst[(size_t)r * cols + c] = src[(size_t)r * cols + c];
}
END
    tool check tall.cu --device sim:sm_90 --budget 2
    succeeds
    says ': 2 agree with the baseline, 0 wrong, 0 not proven'
    tool check tall.cu --device sim:sm_90 --config BY=2 --set rows=8192
    succeeds
    says ': 1 agrees with the baseline, 0 wrong, 0 not proven'
    sed -i 's/^problem.*/&\nragged = { rows = 1 << 20 }/' tall.cu
    tool check tall.cu --device sim:sm_90 --config BY=2 --set rows=8192
    [ "$status" -eq 1 ]
    says 'but is 524288, where rows is 1048576 (in the ragged problem), BY is 2'
}

@test "simulated devices skip a small problem of gigabytes, and check the ragged problems" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/simulated = { n = [^}]*}/simulated = { n = 2000000000 }/' scale.lua
    run_start=$SECONDS
    tool scale.lua --device sim:sm_90 --budget 5 --quiet
    succeeds
    says '5 ok'
    [ $((SECONDS - run_start)) -lt 10 ]
}

@test "a proof names exactly the problems on which its variant was run" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    for vec in 1 2; do
        tool check scale.lua --device sim:sm_90 --config "block=256,vec=$vec,cached=true" --json
        succeeds
        cp out.txt "$vec.json"
    done
    python3 - <<'PYTHON'
import json
variants = [json.load(open(f"{vec}.json"))["variants"][0] for vec in (1, 2)]
runs = [v["covered"]["problems"] for v in variants]
assert [v["not_run"] for v in variants] == [None, 'the ragged problem n=1003: the variant breaks scale.lua:20, "n % vec == 0 or vec == 1"'], variants
assert "the ragged problem n=1003" in runs[0] and "ragged" not in runs[1], runs
assert all("the small problem n=16384" in r and ", the tuned problem n=" in r for r in runs), runs
PYTHON
}

@test "a buffer that its kernel reads as another type is refused, with the script's line" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/src = at.input  { dtype = "dtype"/src = at.input { dtype = "double"/' scale.lua
    sed -i 's/(const ${ctype(dtype)} \*src/(const double *src/' scale_ref.cu.tmpl
    grep -q "const double" scale_ref.cu.tmpl
    for command in "check scale.lua --device sim:sm_90" "lint scale.lua" "scale.lua --device sim:sm_90"; do
        tool $command
        fails_with 2 "scale.lua:$(grep -n "src = " scale.lua | cut -d: -f1): src is a buffer of double, but argument 1 of the kernel scale is const float *: give the buffer dtype = \""
        [[ $errors == *'give the buffer dtype = "float"'* ]]
    done
}

@test "a buffer that the reference reads as another type is refused, with the script's line" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/(const ${ctype(dtype)} \*src/(const double *src/' scale_ref.cu.tmpl
    grep -q "const double" scale_ref.cu.tmpl
    for command in "check scale.lua --device sim:sm_90" "lint scale.lua" "scale.lua --device sim:sm_90"; do
        tool $command
        fails_with 2 "scale.lua:$(grep -n "src = " scale.lua | cut -d: -f1): src is a buffer of float, but argument 1 of the kernel reference is const double *"
    done
    cp "$FIXTURES"/scale_ref.cu.tmpl .
    sed -i 's/at.reference {/at.reference { args = { "dst", "src", at.int64("n") },/' scale.lua
    tool check scale.lua --device sim:sm_90
    fails_with 2 "the kernel reference takes 4 arguments"
}

@test "a reference that reads a kernel file's buffer as another type is refused" {
    cat >twice.cu <<'CU'
/* autotune
problem = { n = 4096 }
launch = { grid = "ceil_div(n, 256)", block = 256 }
sizes = { x = "n", y = "n" }
outputs = { "y" }
reference = at.reference { template = "twice_ref.cu.tmpl" }
*/
__global__ void twice(const float *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2.0 * x[i];
}
CU
    cat >twice_ref.cu.tmpl <<'CU'
extern "C" __global__ void reference(const float *x, float *y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        y[i] = 2.0 * x[i];
}
CU
    for command in "check twice.cu" "lint twice.cu" "twice.cu --device sim"; do
        tool $command
        fails_with 2 "twice.cu:4: y is a buffer of double, but argument 2 of the kernel reference is float *: give the kernel a pointer to double"
    done
    sed -i 's/float \*y/double *y/' twice_ref.cu.tmpl
    tool check twice.cu
    succeeds
}

@test "an output that the kernel takes as a pointer to const is refused" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/args = { "src", "dst"/args = { "dst", "src"/' scale.lua
    for command in "check scale.lua" "lint scale.lua" "scale.lua --device sim"; do
        tool $command
        fails_with 2 "scale.lua:$(grep -n "dst = at" scale.lua | cut -d: -f1): dst is an at.output, but argument 1 of the kernel scale is const float *, so the kernel cannot write it"
    done
}

@test "an output that the reference writes only in part is named, with the first missing element" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i '/dst = /s/count = "n"/count = "n + 3"/' scale.lua
    tool check scale.lua
    fails_with 2 "scale_ref.cu.tmpl:2: two runs of the reference kernel give different dst: 3 of 16387 elements differ, and nothing wrote the first of them, dst[16384]. Let the reference write all elements; or make the buffer an in-out"
}

@test "a wrong sum by atomics is not blamed on its order, and undefined elements are not blamed on the kernel" {
    cat >sum.cu <<'CU'
/* autotune
problem = { n = 4096 }
launch = { grid = "ceil_div(n, 256)", block = 256 }
sizes = { x = "n", total = "1" }
reference = at.reference { template = "sum_ref.cu.tmpl", grid = 1, block = 32 }
tolerance = 1e-5
*/
__global__ void sum(const float *x, float *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}
CU
    cat >sum_ref.cu.tmpl <<'CU'
extern "C" __global__ void reference(const float *x, float *total, int n)
{
    float sum = 1;
    for (int i = 0; threadIdx.x == 0 && i < n; i++)
        sum += x[i];
    if (threadIdx.x == 0)
        *total += sum;
}
CU
    tool check sum.cu
    [ "$status" -eq 1 ] || { echo "exit $status: $output"; return 1; }
    says "1 of 1 elements of total are wrong"
    says_nothing_of "depends on the order"
    sed -i 's/^outputs.*//; s/total = "1"/total = "2"/; /tolerance/a outputs = { "total" }' sum.cu
    sed -i 's/sum = 1/sum = 0/; s/+= sum/= sum/' sum_ref.cu.tmpl
    tool check sum.cu
    fails_with 2 "1 of 2 elements differ, and nothing wrote the first of them, total[1]"
}

@test "a broken constraint is named with its values, and --set is blamed only for its own value" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    tool check scale.lua --set n=1001 --config vec=2
    fails_with 2 "scale.lua:20: no valid configuration has these values, because they break a constraint: n % vec == 0 or vec == 1, where n is 1001 (by --set), vec is 2; the nearest valid one has vec=1"
    sed -i 's/ragged  = { n = 1003 }/ragged = { n = 0 }/' scale.lua
    tool check scale.lua
    fails_with 2 "must be 1 at least, but is 0, where n is 0 (in the ragged problem)"
}

@test "accessing a buffer of floats as bits, bytes or vectors is no mistake" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    for type in 'const unsigned' 'const char' 'const void' 'const float4'; do
        sed "s/const \${T} \*__restrict__ src/$type *source/;s/^{$/{ const float *src = (const float *)source;/" \
            "$FIXTURES/scale.cu.tmpl" >scale.cu.tmpl
        grep -q "$type" scale.cu.tmpl
        tool check scale.lua --device sim:sm_90
        succeeds
        [[ $errors != *warning* ]]
    done
}

@test "arguments that the kernel does not take are refused before anything is launched" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i 's/args = { "src", "dst", /args = { "dst", /' scale.lua
    tool check scale.lua --device sim:sm_90
    fails_with 2 "scale.lua:$(grep -n 'kernel = ' scale.lua | cut -d: -f1): the kernel scale takes 4 arguments (const float *, float *, long long, double), but args has 3"
}

@test "a source that does not compile is an error of the script, for check and for tune" {
    cp "$FIXTURES"/scale*.tmpl "$FIXTURES"/scale.lua .
    sed -i '/^{$/s/$/ int unused; undefined_name = 1;/' scale.cu.tmpl
    tool check scale.lua --device sim:sm_90
    fails_with 2 'block=256,vec=1,cached=true: the variant does not compile for the simulated device'
    fails_with 2 'identifier "undefined_name" is undefined'
    [[ $errors != *warning* ]]
    # If several variants fail, the compiler's message is printed once. The error does not repeat it.
    tool check scale.lua --device sim:sm_90 --budget 2
    fails_with 2 "none of the 2 variants compiles: the script or a template is wrong"
    [ "$(cat out.txt err.txt | grep -c undefined_name.*undefined)" -eq 1 ]
    tool scale.lua --device sim:sm_90
    fails_with 2 "the script's default does not compile, nor does any of the "
    [ -z "$output" ]
}

@test "with oracle = false check only searches for faults, and its first line says so" {
    tool check "$FIXTURES/unjudged.cu" --device sim:sm_90
    succeeds
    [[ "$output" == 'no fault found; results were not compared'* ]]
    says ': 1 without a fault found (results were not compared), 0 wrong, 0 not proven'
    tool check "$FIXTURES/unjudged.cu" --device sim:sm_90 --json
    succeeds
    says '"verdict": "no fault found"'
    says '"oracle": "none"'
    sed 's/squares\[i\] =/squares[i + 1] =/' "$FIXTURES/unjudged.cu" > beyond.cu
    tool check beyond.cu --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'out of bounds in square at beyond.cu:12'
    sed 's/squares\[i\] =/squares[i % 500] =/' "$FIXTURES/unjudged.cu" > shared.cu
    tool check shared.cu --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'data race in square at shared.cu:12'
}

@test "with oracle = false nothing is tuned, and a reference is refused" {
    tool "$FIXTURES/unjudged.cu" --device sim --budget 1
    fails_with 2 'the script has oracle = false, so results are not compared'
    sed 's/^oracle .*/oracle = true/' "$FIXTURES/unjudged.cu" > odd.cu
    tool check odd.cu --device sim:sm_90
    fails_with 2 'the only possible value is false, which means that results are not compared'
    sed 's/^oracle .*/&\nreference = at.reference { template = "r.cu" }/' "$FIXTURES/unjudged.cu" > odd.cu
    tool check odd.cu --device sim:sm_90
    fails_with 2 'there is a reference'
}

fault_is() { # fault_is FIELD VALUE: checks a field, as JSON, of the only variant's fault
    python3 -c 'import json, sys
found = json.load(open("out.txt"))["variants"][0]["fault"][sys.argv[1]]
sys.exit(0 if found == json.loads(sys.argv[2]) else f"{sys.argv[1]}: {found}")' "$1" "$2"
}

@test "check --json has the fields of a fault" {
    cat >k.cu <<'CU'
/* autotune
problem = { n = 1000 }
launch  = { grid = "ceil_div(n, 128)", block = 128 }
sizes   = { x = "n", y = "n" }
oracle  = false
*/
__device__ float next(const float *x, int i)
{
    return x[i + 1];
}

__global__ void k(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        y[i] = next(x, i);
}
CU
    tool check k.cu --device sim:sm_90 --json
    [ "$status" -eq 1 ]
    fault_is kind '"out of bounds"'
    fault_is file '"k.cu"'
    fault_is line 9
    fault_is column 5
    fault_is inlined_at '[{"file": "k.cu", "line": 16, "column": 9}]'
    fault_is thread '[103, 0, 0]'
    fault_is block '[7, 0, 0]'
    fault_is space '"global"'
    fault_is buffer '"x"'
    fault_is element 1000
    tool check k.cu --device sim:sm_90
    says '9 |     return x[i + 1];'
    [[ "$output" == *$'\n              |     ^\n'* ]]
}

@test "the fields of a fault name shared variables and wrong elements" {
    cat >k.cu <<'CU'
/* autotune
problem = { n = 1024 }
launch  = { grid = "n // 128", block = 128 }
sizes   = { y = "n" }
oracle  = false
*/
__global__ void k(float *y)
{
    __shared__ float left[32], tile[128];
    left[threadIdx.x % 32] = 0;
    tile[threadIdx.x] = threadIdx.x;
    y[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}
CU
    tool check k.cu --device sim:sm_90 --json
    [ "$status" -eq 1 ]
    fault_is buffer '"tile"'
    fault_is space '"shared"'
    fault_is element null
    tool check "$FIXTURES/mixed_outcomes.lua" --device sim:sm_90 --only fault=wrong --budget 1 --json
    [ "$status" -eq 1 ]
    fault_is kind '"wrong result"'
    fault_is buffer '"dst"'
    fault_is element 8192
    fault_is line null
}

@test "a variant that leaves planes out is wrong, although the baseline leaves the border out" {
    cat >planes.cu <<'CU'
/* autotune
problem = { NX = 512, NY = 512, NZ = 290 }
space   = { UZ = { 1, 5 } }
launch  = { grid = { "ceil_div(NX, 32)", "ceil_div(NY, 8)" }, block = { 32, 8 } }
sizes   = { src = "NX * NY * NZ", dst = "NX * NY * NZ" }
outputs = { "dst" }
simulated = { NX = 40, NY = 40, NZ = 12 }
ragged  = false
*/
#define UZ 1
__global__ void planes(const float *src, float *dst)
{
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x == 0 || x >= NX - 1 || y == 0 || y >= NY - 1)
        return;
    for (int z = 1; z < 1 + (NZ - 2) / UZ * UZ; z++)
        dst[(z * NY + y) * NX + x] = src[((z - 1) * NY + y) * NX + x] + src[((z + 1) * NY + y) * NX + x];
}
CU
    tool check planes.cu --device sim:sm_90 --config UZ=1
    succeeds
    tool check planes.cu --device sim:sm_90 --config UZ=5
    [ "$status" -eq 1 ]
    # The whole grid writes 510 x 510 x 285 of 510 x 510 x 288 elements.
    says 'the whole grid writes 74128500 elements, but 74908800 are needed'
}
