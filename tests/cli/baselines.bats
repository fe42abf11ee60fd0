# Tests patterns without a reference, whose oracle is the results of the baseline.
load helpers

# pattern [WORDS]: writes p.cu.tmpl from stdin, and p.lua with these words in place of the tolerance
pattern() {
    cat >p.cu.tmpl
    cat >p.lua <<EOF
local at = require "autotune"
return at.pattern {
  name = "p", problem = { n = 1 << 14 }, ragged = { n = 1003 },
  space = { block = { 64, 128 }, per_thread = { 1, 2, 4 } },
  where = { "n % per_thread == 0" },
  baseline = { block = 128, per_thread = 2 },
  buffers = { x = at.input { dtype = "float", count = "n" }, y = at.${ROLE:-output} { dtype = "float", count = "n" } },
  kernel = { template = "p.cu.tmpl", args = { "x", "y", at.int32 "n" } },
  launch = { grid = "ceil_div(n, block * per_thread)", block = "block" },
  ${1:-tolerance = 0},
}
EOF
}

LOOP='extern "C" __global__ void p(const float *x, float *y, int n)
{
    for (int k = 0; k < ${per_thread}; k++) {
        int i = (blockIdx.x * ${per_thread} + k) * ${block} + threadIdx.x;'

@test "variants that agree with the baseline are reported as agreeing, not as proven" {
    pattern <<<"$LOOP if (i < n) y[i] = 2 * x[i]; } }"
    tool check p.lua --device sim:sm_90 --budget 6 --seed 1
    succeeds
    says '6 agree with the baseline, 0 wrong, 0 not proven'
    tool check p.lua --device sim:sm_90
    says 'agrees  '
    says_nothing_of 'proven '
    tool check p.lua --device sim:sm_90 --json
    says '"oracle": "baseline"'
    says '"verdict": "agrees"'
    tool p.lua --device sim:sm_90 --budget 3 --quiet
    succeeds
    says "its results agree with the baseline's: there is no reference that says what is right"
    tool p.lua --device sim:sm_90 --budget 3 --quiet --json
    says '"oracle": "baseline"'
}

@test "a variant that differs from the baseline is wrong, the baseline is not" {
    pattern <<<"$LOOP"' if (i < n) y[i] = (${per_thread} == 4 && i == 5 ? 3 : 2) * x[i]; } }'
    tool check p.lua --device sim:sm_90 --config per_thread=4
    [ "$status" -eq 1 ]
    says "1 of 16384 elements of y differ from the baseline's, first y[5]"
    tool check p.lua --device sim:sm_90
    succeeds
}

@test "if blocks of a large problem differ only by rounding, the message suggests a tolerance" {
    pattern 'simulated = { n = 1 << 12 }' <<<"$LOOP"' if (i < n) y[i] = ${per_thread} == 4 && n > 1 << 13 ? (x[i] + 0.1f) + 0.2f : x[i] + (0.1f + 0.2f); } }'
    for n in 262144 268435456; do # the first problem is run completely, the second in part
        tool check p.lua --device sim:sm_90 --config per_thread=4 --set n=$n
        [ "$status" -eq 1 ]
        says 'elements of y differ from the baseline'
        says 'all differences are small: if that is rounding, tolerance = 4e-06 allows it'
    done
    sed -i 's/0.2f :/0.3f :/' p.cu.tmpl
    for n in 262144 268435456; do
        tool check p.lua --device sim:sm_90 --config per_thread=4 --set n=$n
        [ "$status" -eq 1 ]
        says_nothing_of 'all differences are small'
    done
}

@test "sums by atomics are compared on a large problem that runs whole" {
    ROLE=inout pattern 'simulated = { n = 1 << 12 }' <<<"$LOOP if (i < n) atomicAdd(&y[i % 100], 1.0f); } }"
    tool check p.lua --device sim:sm_90 --set n=1048576 --json
    succeeds
    [ "$(jq -r '.variants[0].covered.extent' out.txt)" = tuned ]
    sed -i 's/1.0f/${per_thread == 4 and "i == 1000000 ? 2.0f : 1.0f" or "1.0f"}/' p.cu.tmpl
    tool check p.lua --device sim:sm_90 --set n=1048576 --config per_thread=4
    [ "$status" -eq 1 ]
    says "1 of 1048576 elements of y differ from the baseline's"
}

@test "on a problem that excludes the baseline, the nearest configuration is the oracle" {
    pattern <<<"$LOOP"' if (i < n) y[i] = (${per_thread} == 1 && ${block} == 64 && n == 1003 && i == 7 ? 3 : 2) * x[i]; } }'
    tool check p.lua --device sim:sm_90 --config block=64,per_thread=1
    [ "$status" -eq 1 ]
    says "on the ragged problem n=1003: 1 of 1003 elements of y differ from the baseline's, first y[7]"
    tool check p.lua --device sim:sm_90 --config block=128,per_thread=1
    succeeds
    sed -i 's/"n % per_thread == 0"/"n ~= 1003"/' p.lua
    tool check p.lua --device sim:sm_90
    succeeds
}

@test "elements that the baseline does not write may not be written" {
    pattern <<<"$LOOP"' if (i < n && i % 3 != ${per_thread == 4 and 1 or 0}) y[i] = x[i]; } }'
    tool check p.lua --device sim:sm_90
    succeeds
    tool check p.lua --device sim:sm_90 --config per_thread=1
    succeeds
    tool check p.lua --device sim:sm_90 --config per_thread=4
    [ "$status" -eq 1 ]
    says "elements of y differ from the baseline's"
}

@test "a fault of the baseline is reported once, and nothing is tuned against it" {
    pattern <<<"$LOOP if (i < n) y[i] = x[i + 1]; } }"
    tool check p.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'out of bounds in p at p.cu.tmpl:4'
    tool p.lua --device sim:sm_90 --budget 3 --quiet
    fails_with 2 'p.cu.tmpl:1: the baseline: out of bounds in p at p.cu.tmpl:4'
    fails_with 2 "so the baseline's results are the expected ones"
}

@test "with a wrong baseline, faults of a variant are found, but its results are not judged" {
    pattern <<<"$LOOP"' if (i < n) y[i] = ${per_thread} == 2 ? y[i + 1] : x[i + (${per_thread} == 4 ? 1 : 0)]; } }'
    tool check p.lua --device sim:sm_90 --config per_thread=4
    [ "$status" -eq 1 ]
    says 'the end of x'
    tool check p.lua --device sim:sm_90 --config per_thread=1
    [ "$status" -eq 3 ]
    says 'there are no expected results: the baseline: uninitialised read'
}

@test "a baseline that does not agree with itself is reported, and the message suggests a tolerance" {
    ROLE=inout pattern <<<"$LOOP if (i < n) atomicAdd(y, x[i]); } }"
    tool check p.lua --device sim:sm_90
    [ "$status" -eq 1 ]
    says 'the result depends on the order'
    says 'two launches on the same inputs give different y; if that is rounding, tolerance = 4e-06 allows it'
    tool p.lua --device sim:sm_90 --budget 2 --quiet
    fails_with 2 'two runs of the baseline differ'
    fails_with 2 'tolerance = 1e-5 or at.mismatches'
    sed -i 's/tolerance = 0/tolerance = 1e-5/' p.lua
    tool check p.lua --device sim:sm_90 --budget 6
    succeeds
}

@test "a transfer and a pattern without results need a reference" {
    pattern <<<"$LOOP } }"
    sed -i 's/at.output/at.scratch/' p.lua
    tool p.lua --device sim:sm_90
    fails_with 2 'neither a reference nor results'
}

# gpu VALUE: writes a pattern whose baseline multiplies element 5 by VALUE. The fake GPU only copies.
gpu() {
    python3 -c 'import array; open("x.bin", "wb").write(array.array("f", range(4096)).tobytes())'
    cat >g.cu.tmpl <<EOF
extern "C" __global__ void good_10(const float *x, float *y, long long n)
{
    long long i = blockIdx.x * (long long)\${block} + threadIdx.x;
    if (i < n) y[i] = (i == 5 ? $1 : 1) * x[i];
}
EOF
    cat >g.lua <<'EOF'
local at = require "autotune"
local x = at.file("x.bin", { dtype = "float", head = true })
return at.pattern {
  name = "g", problem = { n = x.count }, ragged = { n = 1003 }, space = { block = { 64, 128 } },
  buffers = { x = at.input { dtype = "float", count = "n", fill = x }, y = at.output { dtype = "float", count = "n" } },
  kernel = { template = "g.cu.tmpl", entry = "good_10", args = { "x", "y", at.int64 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
}
EOF
    AUTOTUNE_LIBCUDA=$FAKE_CUDA tool g.lua --device cuda:0 --budget 2 --quiet --results r
}

@test "a record says that a baseline was the oracle" {
    gpu 1
    succeeds
    says "its results agree with the baseline's, and it did nothing else wrong on a simulated GPU either"
    says_nothing_of 'on the GPU and on the simulated device differ'
    tool results show g --results r
    says "its results agree with the baseline's"
    tool export g --results r -o g.h
    grep -q "agree with those of the pattern's default: no reference says that these are right" g.h
}

@test "a baseline whose results differ between GPU and simulated device proves nothing" {
    gpu 2
    succeeds
    says "not proven on a simulated GPU: the baseline's results on the GPU and on the simulated device differ, with the same data and code, on"
    says 'first y[5]: 5 on the GPU, 10 on the simulated device. The cause is a race that was not found'
    tool results show g --results r
    says "not proven: the baseline's results on the GPU and on the simulated device differ, with the same"
}

@test "a variant that does nothing is wrong, even if all results are zero or already in the output" {
    for role in output inout; do
        cat >zero.lua <<EOF
local at = require "autotune"
return at.pattern {
  name = "zero", problem = { n = 5000 }, space = { all = { 1, 0 } },
  buffers = { y = at.$role { dtype = "float", count = "n", fill = $([ $role = inout ] && echo '"zero"' || echo nil) } },
  kernel = { template = "zero.cu", entry = "zero", args = { "y", at.int32 "n" } },
  launch = { grid = "ceil_div(n, 128)", block = 128 }, traffic = "4 * n",
}
EOF
        cat >zero.cu <<'EOF'
extern "C" __global__ void zero(float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n * ${all})
        y[i] = 0;
}
EOF
        tool check zero.lua --device sim:sm_90 --budget 2
        [ "$status" -eq 1 ]
        says "1 agrees with the baseline, 1 wrong"
    done
}

@test "if the baseline writes nothing, tuning stops and names the condition that prevents writing" {
    cat >idle.cu <<'EOF'
/* autotune
problem = { n = 1 << 16, limit = 0 }
space   = { BLOCK = { 128, 256 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n", y = "n" }
*/
__global__ void copy(const float *x, float *y, int limit)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < limit)
        y[i] = x[i];
}
EOF
    tool idle.cu --device sim:sm_90 --quiet --no-record
    fails_with 2 "the kernel wrote nothing on any problem"
    [[ "$errors" == *"Never executed: idle.cu:11 (the condition at idle.cu:10 was never met)"* ]]
    tool check idle.cu --device sim:sm_90
    [ "$status" -eq 3 ]
    says "the kernel wrote nothing on any problem. Never executed: idle.cu:11 (the condition at idle.cu:10 was never met)"
    # A GPU does not report which lines were executed.
    AUTOTUNE_LIBCUDA=$FAKE_CUDA FAKE_CUDA_ANY=1 tool idle.cu --device cuda:0 --quiet --no-record
    fails_with 2 "'autotune check' names the lines that were never executed"
}

@test "a rate above that of a copy is explained by in-outs that a kernel file counts twice" {
    cat >fill.cu <<'CUDA'
/* autotune
problem = { n = 1 << 24 }
space = { BLOCK = { 128, 256 } }
launch = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes = { x = "n", y = "n" }
*/
#define BLOCK 256
__global__ void fill(const float *x, float *y, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
CUDA
    tool fill.cu --device sim:h100 --quiet --json
    succeeds
    [[ "$(jq -r '.warnings[]' out.txt)" == *"of a copy of the same bytes: it moves less than the 192 MiB that \`traffic\` says"*'name it in outputs = { "y" }'* ]] ||
        { cat out.txt; return 1; }
    sed -i 's/^sizes/outputs = { "y" }\nsizes/' fill.cu
    tool fill.cu --device sim:h100 --quiet --json
    succeeds
    [[ "$(jq -r '.warnings[]' out.txt)" != *"of a copy"* ]] || { cat out.txt; return 1; }
}
