load helpers

@test "explain shows counters beside the lines that touch memory, and a verdict" {
    tool explain transpose.lua --device sim:sm_90 --set rows=256 --set cols=256
    succeeds
    says 'global loads'
    says 'Verdict'
    says 'no access to shared memory conflicts'
    says 'Occupancy: 8 blocks of 256 threads'
    # One sentence names the bottleneck, with its time.
    [[ "$(tr -s ' \n' ' ' <out.txt)" =~ "The bottleneck, by prediction: "[A-Za-z0-9\ ]+", "[0-9.]+" " ]]
}

@test "an asynchronous copy from global memory counts as a load, as in the hardware's counters" {
    tool explain transpose.lua --json --config algorithm=async --set rows=512 --set cols=1024
    succeeds
    says '"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 8192'
    says '"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 65536'
}

@test "explain names the line that conflicts when the padding is gone" {
    tool explain transpose.lua --device sim:sm_90 --set rows=256 --set cols=256 --config pad=0
    succeeds
    says '(transpose_tile.tmpl:57) conflicts: it reads shared memory with 32.0 wavefronts a request where 1.0 would do'
}

@test "explain --json uses Nsight Compute's names and counts every block of a small grid" {
    tool explain transpose.lua --device sim:sm_90 --set rows=256 --set cols=256 --json
    succeeds
    says '"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 8192'
    says '"blocks_counted": 64'
}

@test "explain refuses a configuration that breaks a constraint" {
    tool explain transpose.lua --device sim:sm_90 --config pad=1,swizzle=xor
    fails_with 2 "constraint"
}

@test "for an unknown chip, explain lists the simulated chips" {
    tool explain transpose.lua --device sim:sm_87
    fails_with 2 "sm_90"
}

# kernel_script BODY: writes the pattern `made`; its kernel has blocks of one warp, reads src and writes dst
kernel_script() {
    cp "$FIXTURES/scale.lua" made.lua
    cp "$FIXTURES"/scale*.cu.tmpl .
    printf '%s\n' "$1" >made.cu.tmpl
    sed -i 's/name    = "scale"/name = "made"/; s/template = "scale.cu.tmpl", entry = "scale"/template = "made.cu.tmpl", entry = "made"/' made.lua
}

made='extern "C" __global__ void made(const float *src, float *dst, long long n, double factor)'

@test "parameters of functions that ptxas keeps in registers are not counted as local memory" {
    kernel_script "struct pair { float a, b; };
__device__ __noinline__ pair twice(pair p) { pair q = {p.a * 2, p.b + 1}; return q; }
$made
{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; pair p = {src[i % n], 1}; p = twice(p); if (i < n) dst[i] = p.a + p.b; }"
    tool explain made.lua --config block=256,vec=1
    says 'Occupancy'
    says_nothing_of 'local memory'
}

@test "explain keeps loads, stores and atomics of one line apart" {
    kernel_script "$made
{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) dst[i] = src[i * 8 % n] * factor; }"
    tool explain made.lua --json --config block=256,vec=1
    says '"kind": "load"'
    says '"kind": "store"'
    says '"place": "made.cu.tmpl:2"'
    says 'reads global memory with 32.0 sectors a request where 4.0 would do'
    says_nothing_of 'writes global memory with'
}

@test "explain counts and prices atomics on one address" {
    kernel_script "$made
{ atomicAdd(dst, src[blockIdx.x * blockDim.x + threadIdx.x]); }"
    tool explain made.lua --json --config block=256,vec=1
    says 'of a warp'"'"'s atomics on global memory 32.0 lanes hit one address'
    says '"limit": "atomics on one address"'
}

@test "explain counts and prices constant memory that is read at different addresses" {
    kernel_script "__constant__ float table[4096];
$made
{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; float sum = 0;
  for (int k = 0; k < 256; k++) sum += table[(threadIdx.x * 32 + k) % 4096];
  if (i < n) dst[i] = sum; }"
    tool explain made.lua --json --config block=256,vec=1
    says 'reads constant memory at different addresses: 32.0 passes a request'
    says '"limit": "constant memory"'
}

@test "explain counts at least one sector for each access" {
    kernel_script "$made
{ if (threadIdx.x == 0) dst[blockIdx.x] = src[blockIdx.x]; }"
    tool explain made.lua --config block=256,vec=1
    says_nothing_of 'wastes sectors'
}

@test "explain reports a race and a wrong result, with the template's line" {
    kernel_script "$made
{ __shared__ float s[1024]; long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  s[threadIdx.x] = 0; __syncthreads(); s[threadIdx.x] = i < n ? src[i] : 0;
  if (i < n) dst[i] = s[(threadIdx.x + 32) % blockDim.x] * factor; }"
    tool explain made.lua --config block=256,vec=1
    [ "$status" -eq 1 ]
    says 'It is wrong: '
    says 'data race'
    says 'made.cu.tmpl:'

    kernel_script "$made
{ long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i < n) dst[i] = src[i]; }"
    tool explain made.lua --config block=256,vec=1
    [ "$status" -eq 1 ]
    says 'It is wrong: '
    says 'dst'
}

@test "explain reports a fault once" {
    kernel_script "$made
{ dst[(blockIdx.x * blockDim.x + threadIdx.x) * 1000LL] = src[0]; }"
    tool explain made.lua --config block=256,vec=1
    [ "$status" -eq 1 ]
    [ "$(grep -c 'It is wrong' out.txt)" -eq 1 ]
    says 'made.cu.tmpl:2'
}

@test "without --set, explain uses the problem for simulated devices" {
    tool explain "$FIXTURES/scale.lua"
    succeeds
    says "n=16384 scale=3.0 dtype=float (a smaller problem, for simulated devices; the tuned one: --set n=1048576)"
    # The slowest part must come first. Parts without time must be left out.
    sed -n '/if alone/,/all together/p' out.txt | sed '1d;$d' >parts.txt
    python3 - <<'PY'
scale = {"ns": 1e-3, "us": 1, "ms": 1e3}
times = [float(line.split()[-2]) * scale[line.split()[-1]] for line in open("parts.txt")]
assert len(times) > 2 and times[-1] > 0 and times == sorted(times, reverse=True), times
PY
    tool explain "$FIXTURES/scale.lua" --set n=4096
    succeeds
    says 'n=4096'
}

@test "several launches are counted apart" {
    tool explain "$FIXTURES/separable.lua" --set rows=64 --set cols=64 --device sim:sm_90
    succeeds
    says 'Launch 1 of 2: along_rows'
    says 'Launch 2 of 2: along_columns'
    tool explain "$FIXTURES/separable.lua" --set rows=64 --set cols=64 --device sim:sm_90 --json
    says '"entry": "along_columns"'
}

@test "explain counts with the data of the script: random bytes rarely update one counter" {
    cp "$FIXTURES/scale_ref.cu.tmpl" .
    cat >bytes.lua <<'EOF'
local at = require "autotune"
return at.pattern {
  name = "bytes", problem = { n = 1 << 14, fill = at.one_of { "bits", "uniform", "below" } }, ragged = { n = 1003 },
  space = { block = { 128 } },
  buffers = {
    bits = at.input { dtype = "uint32", count = "n", fill = "bits" },
    uniform = at.input { dtype = "uint32", count = "n" },
    below = at.input { dtype = "uint32", count = "n", fill = "below", limit = "1 << 30" },
    dst = at.output { dtype = "uint32", count = 256 },
  },
  kernel = { template = "bytes.tmpl", args = { "bits", "uniform", "below", "dst", at.int32 "n" } },
  launch = { grid = 1, block = "block" },
  traffic = "n",
  reference = at.reference { template = "scale_ref.cu.tmpl" },
}
EOF
    cat >bytes.tmpl <<'EOF'
extern "C" __global__ void bytes(const unsigned *bits, const unsigned *uniform, const unsigned *below, unsigned *dst, int n)
{
    __shared__ unsigned count[256];
    for (int k = threadIdx.x; k < 256; k += ${block}) count[k] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += ${block}) atomicAdd(&count[${fill}[i] & 255], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += ${block}) dst[k] = count[k];
}
EOF
    for fill in bits uniform below; do
        tool explain bytes.lua --device sim:sm_90 --set "fill=$fill"
        [[ $output =~ conflicts:\ it\ updates\ shared\ memory\ with\ 3\.[4-7]\ wavefronts ]]
    done
}

@test "explain uses the index that the script's own kernel prepares, for problems of any size" {
    cat >gathered.lua <<'EOF'
local at = require "autotune"
return at.pattern {
  name = "gathered", problem = { n = 1 << 32, far = false }, ragged = { n = 1003 },
  space = { block = { 128 } },
  buffers = { index = at.input { dtype = "uint32", count = "n" }, src = at.input { dtype = "float", count = "n" },
              dst = at.output { dtype = "float", count = "n" } },
  prepare = at.kernel { template = "prepare.tmpl", args = { "index", at.uint64 "n" } },
  kernel = { template = "gathered.tmpl", args = { "index", "src", "dst", at.uint64 "n" } },
  launch = { grid = "ceil_div(n, block)", block = "block" },
  traffic = "12 * n",
  reference = at.reference { template = "gathered.tmpl", args = { "index", "src", "dst", at.uint64 "n" } },
}
EOF
    cat >prepare.tmpl <<'EOF'
extern "C" __global__ void prepare(unsigned *index, unsigned long long n)
{ unsigned long long i = blockIdx.x * 256ull + threadIdx.x; if (i < n) index[i] = ${far and "i * 1000003 % n" or "i"}; }
EOF
    cat >gathered.tmpl <<'EOF'
extern "C" __global__ void gathered(const unsigned *index, const float *src, float *dst, unsigned long long n)
{ unsigned long long i = blockIdx.x * ${block}ull + threadIdx.x; if (i < n) dst[i] = src[index[i]]; }
EOF
    tool explain gathered.lua --device sim:sm_90 --set far=true
    says 'reads global memory with 18.0 sectors a request where 4.0 would do'
    tool explain gathered.lua --device sim:sm_90
    says 'Every line moves whole sectors'
}

@test "explain says how often a launch runs, and shows it once" {
    tool explain "$FIXTURES/stepped.lua" --set n=4096 --device sim:sm_90 --config block=64,fused=1
    succeeds
    says 'Launch 2 of 4: step, 4 times; this is one of them'
    says 'Launch 4 of 4: begin, 2 times; this is one of them'
    tool explain "$FIXTURES/stepped.lua" --set n=4096 --device sim:sm_90 --config block=64,fused=2 --json
    succeeds
    [ "$(jq -c '[.launches[].times]' out.txt)" = '[1,2,2,2]' ]
}

@test "the predicted time of launches that run in rounds is the time of all rounds" {
    for steps in 8 16; do # 8 steps are 11 launches, 16 steps are 19 launches
        tool "$FIXTURES/stepped.lua" --set n=4096 --set steps=$steps --device sim:sm_90 --only block=64 --only fused=1 --json --quiet --no-record
        succeeds
        jq .best.time_ns out.txt >"$steps"
    done
    [ "$(cat 16)" -gt $(($(cat 8) * 3 / 2)) ]
    [ "$(cat 16)" -lt $(($(cat 8) * 2)) ]
}

@test "the verdict uses the line numbers of the kernel's own file, like its listing" {
    # Eight lines before the kernel are not compiled, so the compiled source has different line numbers.
    { sed -n '/autotune/,/^..$/p' "$FIXTURES/saxpy.cu"; printf '#include <cstdio>\n\n\n\n'
      sed '/^.. autotune/,/^..$/d; s/y\[i\] *= */y[i] = x[(i * 32) % n] + /' "$FIXTURES/saxpy.cu"; } >own.cu
    tool explain own.cu --device sim:sm_90 --set n=4096
    line=$(grep -o 'Line [0-9]* wastes sectors' out.txt | grep -o '[0-9]*')
    [ -n "$line" ]
    sed -n "${line}p" own.cu | grep -q '% n'
    grep -qE " load +$line  .*% n" out.txt
}

@test "if the reference has a fault, explain ends with the exit code of a wrong script" {
    tool new mine
    sed -i 's/i < n/i <= n/' mine_ref.cu.tmpl
    tool explain mine.lua --device sim:sm_90
    [ "$status" = 2 ]
    says 'the reference kernel: out of bounds'
}
