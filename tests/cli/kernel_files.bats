# Tests `autotune kernel.cu`: kernels in CUDA files of users, with host code.
load helpers

describe() { # describe TEXT: writes saxpy.cu with this text as its comment
    { printf '/* autotune\n%s\n*/\n' "$1"; sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu"; } >saxpy.cu
}

@test "a kernel is compiled without host code, with its parameters as macros" {
    cp "$FIXTURES/saxpy.cu" .
    tool emit saxpy.cu --no-line --config BLOCK=128,VEC=4
    succeeds
    says "#define BLOCK 128"
    says "#define VEC 4"
    says "y[i] = a * x[i] + y[i]"
    says_nothing_of "main"
    says_nothing_of "#define VEC 2"
    says_nothing_of "cerr"
}

@test "the file's own macros are the baseline" {
    cp "$FIXTURES/saxpy.cu" .
    tool emit saxpy.cu --ptx
    succeeds
    tool inspect saxpy.cu --arch sm_90
    succeeds
    says "BLOCK=256,VEC=2"
}

@test "a script can name an unchanged kernel file, and has the same fields" {
    mkdir sub
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >sub/saxpy.cu
    cat >saxpy.lua <<'LUA'
local at = require "autotune"
return at.pattern {
  name = "saxpy", problem = { n = 1 << 20, a = 2.0 }, space = { BLOCK = at.pow2(64, 512), VEC = { 1, 2, 4 } },
  kernel = { source = "sub/saxpy.cu" }, sizes = { x = "n", y = "n" },
  launch = { grid = "ceil_div(n, BLOCK * VEC)", block = "BLOCK" },
}
LUA
    tool inspect saxpy.lua --arch sm_90
    succeeds
    says "BLOCK=256,VEC=2"
}

@test "fields that cannot be inferred are requested in one message, with the lines to add" {
    describe 'space = { BLOCK = { 128, 256 } }'
    tool space saxpy.cu --arch sm_90
    fails_with 2 "saxpy.cu:2"
    fails_with 2 'problem = { n = 1 << 20, a = 1.0 }   -- int64_t n, float a'
    fails_with 2 'sizes = { x = "n", y = "n" }'
    fails_with 2 'launch = { '
}

@test "for a file without a comment, the message says what to write" {
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool space saxpy.cu --arch sm_90
    fails_with 2 "begins with the word autotune"
}

@test "a file that must not be changed can be described in another file" {
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >saxpy.cu
    sed -n '/^.. autotune/,/^..$/p' "$FIXTURES/saxpy.cu" | sed '1d;$d' >described.lua
    tool check saxpy.cu --describe described.lua --config BLOCK=64
    succeeds
    says "agrees      BLOCK=64,VEC=2"
    echo 'sizes.z = 1' >>described.lua
    tool check saxpy.cu --describe described.lua
    fails_with 2 "described.lua:4"
    fails_with 2 "no parameter 'z'"
}

@test "the comment that 'new' writes into a file describes it" {
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >saxpy.cu
    cp saxpy.cu before.cu
    chmod 640 saxpy.cu
    tool new --from saxpy.cu
    succeeds
    says "BLOCK = at.pow2(64, 1024),   -- saxpy.cu:9: BLOCK is 256"
    says "n = 1 << 20,   -- saxpy.cu:32: const int n = 1 << 20"
    says "<<<(n + BLOCK * VEC - 1) / (BLOCK * VEC), BLOCK>>>"
    cmp saxpy.cu before.cu
    tool new --from saxpy.cu --write
    succeeds
    [[ "$errors" == *"autotune: saxpy.cu has the comment now"* ]]
    [ "$(stat -c %a saxpy.cu)" = 640 ]
    tool inspect saxpy.cu --arch sm_90
    succeeds
    says "BLOCK=256,VEC=2"
    tool new --from saxpy.cu
    fails_with 2 "saxpy.cu:2"
}

@test "a template's numbers become parameters" {
    cat >scale.cu <<'CU'
namespace ns {
template <int N, class T> __global__ void scale(T *out, const T *in, int n)
{
    int i = blockIdx.x * N + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}
}
int main()
{
    int n = 1 << 16;
    float *out, *in;
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&in, n * sizeof(float));
    ns::scale<64><<<n / 64, 64>>>(out, in, n);
}
CU
    tool new --from scale.cu --write
    succeeds
    says 'entry = "ns::scale<${N}, float>"'
    says 'in_ = "n"'
    tool check scale.cu --config N=32
    succeeds
    says "agrees"
}

@test "values are shown and then applied to the file's macros" {
    cp "$FIXTURES/saxpy.cu" .
    chmod 640 saxpy.cu
    tool apply saxpy.cu --config BLOCK=512,VEC=4
    succeeds
    [[ "$errors" == *"autotune: saxpy.cu is not changed: --write changes it"* ]]
    says "-#define BLOCK 256
+#define BLOCK 512"
    cmp saxpy.cu "$FIXTURES/saxpy.cu"
    tool apply saxpy.cu --config BLOCK=512,VEC=4 --write
    succeeds
    patch -s -o patched.cu "$FIXTURES/saxpy.cu" out.txt
    cmp patched.cu saxpy.cu
    [ "$(stat -c %a saxpy.cu)" = 640 ]
    tool inspect saxpy.cu --arch sm_90
    says "BLOCK=512,VEC=4"
}

record() { # record GPU CAPABILITY BLOCK VEC
    mkdir -p "results/$1"
    cat >"results/$1/saxpy.json" <<JSON
{"schema": "autotune-record", "version": 1, "pattern": "saxpy", "gpu": "$1", "compute_capability": "$2", "entries": [
{"problem": {"n": 1048576, "a": 2.0}, "configuration": {"BLOCK": $3, "VEC": $4},
 "time": {"median_ns": 100, "low_ns": 99, "high_ns": 101}, "baseline": {"configuration": {"BLOCK": 256, "VEC": 2},
 "time": {"median_ns": 150, "low_ns": 149, "high_ns": 151}}}]}
JSON
}

@test "recorded values are applied, for each architecture separately unless the host reads them" {
    record here 9.0 512 4
    record there 8.0 512 1
    cp "$FIXTURES/saxpy.cu" .
    tool apply saxpy.cu --arch sm_90
    succeeds
    says "+#define VEC 4"
    tool apply saxpy.cu --per-arch
    fails_with 2 "saxpy.cu:"
    fails_with 2 "the host's code here reads VEC"
    sed -i '/^static void check/,$d' saxpy.cu
    tool apply saxpy.cu --per-arch --write
    succeeds
    says "+#elif __CUDA_ARCH__ == 900"
    says "+#define BLOCK 512"
    tool emit saxpy.cu --ptx
    succeeds
}

fields='problem = { n = 1 << 20, a = 2.0 }
space   = { BLOCK = at.pow2(64, 512), VEC = { 1, 2, 4 } }
launch  = { grid = "ceil_div(n, BLOCK * VEC)", block = "BLOCK" }
sizes   = { x = "n", y = "n" }'

refused() { # refused PLACE TEXT: checks that saxpy.cu is refused with a message that has PLACE and TEXT
    tool space saxpy.cu --arch sm_90
    fails_with 2 "saxpy.cu:$1"
    fails_with 2 "$2"
}

@test "a message about a wrong field has its line in the file" {
    describe "${fields/x = \"n\",/z = \"n\",}"
    refused 5 "no parameter 'z'"
    describe "${fields/BLOCK = at/BLOK = at}"
    refused 3 "did you mean 'BLOCK' (saxpy.cu:15)?"
    describe "${fields/(64, 512)/(64, 128)}"
    refused 3 "BLOCK is 256 in the file itself (saxpy.cu:15), which is not one of its values here; add it, or choose the baseline:"
    describe "${fields/2.0 \}/2.0 \},}"
    refused 3 "with no comma after them"
    describe "${fields/block = \"BLOCK\"/block = { \"BLOCK\", \"BLOK\" \}}"
    refused 4 "launch.block: \"BLOCK * BLOK <= 1024\": there is no 'BLOK'; did you mean 'BLOCK'?"
    describe "${fields/ceil_div(n, BLOCK * VEC)/ceil_div(n, BLOCK * VEC}"
    refused 4 "launch.grid: \"ceil_div(n, BLOCK * VEC\": a ( has no )"
    describe "${fields/ y = \"n\"/}"
    refused 2 'sizes = { ..., y = "n" }'
    describe "${fields/n = 1 << 20/n = \"4096\"}"
    refused 2 "write it without quotes: n = 4096"
    describe "${fields/at.pow2(64, 512)/range(64, 512)}"
    refused 3 "nothing is called range here; write at.range"
    describe "${fields/at.pow2(64, 512)/at.pow(64, 512)}"
    refused 3 "there is no at.pow; did you mean 'pow2'?"
    describe "$fields
outputs = { 'q' }"
    refused 6 "no parameter 'q'"
    describe "$fields
kernel = { entry = 'saxpi' }"
    refused 6 "did you mean 'saxpy'?"
    describe "$fields
kernel = { args = { a = at.int32('n') } }"
    refused 6 "the kernel's parameter is float a"
    describe "$fields
kernel = { args = { nn = 'n' } }"
    refused 6 "kernel.args.nn: the kernel has no parameter 'nn'"
    describe "${fields/ceil_div(n, BLOCK * VEC)/n \/ (3 * BLOCK)}"
    tool check saxpy.cu --device sim:sm_90
    fails_with 2 "saxpy.cu:4"
    fails_with 2 "/ gives a fraction: write a // b, or ceil_div(a, b)"
    describe "$fields
where = 'BLOCK > 32 && VEC < 4'"
    refused 6 "write 'and' for &&"
    describe "$fields
outputs = 'x'"
    refused 6 "the kernel cannot write the memory that const float *__restrict__ x points to"
    describe "$fields
*/
/* autotune
outputs = { 'y' }"
    refused 7 "the second comment that begins with autotune, after that of line 1"
    describe "$fields
while true do end"
    refused 6 "does every loop end?"
}

@test "a message about a kernel that cannot be launched has file and reason" {
    echo "/* autotune
problem = { n = 4096 } space = { B = { 64 } } launch = { grid = 1, block = 'B' } sizes = { x = 'n' } */" >head
    try() { { cat head; echo "$1"; } >k.cu; tool check k.cu; }
    try '__global__ void a(float *x) {} __global__ void b(float *x) {}'
    fails_with 2 "the kernels are: a, b"
    sed -i 1,2d k.cu
    tool new --from k.cu
    fails_with 2 "k.cu has 2 kernels; choose one: --kernel a"
    try 'int main() {}'
    fails_with 2 "k.cu has no kernel"
    try '__global__ void a(float *x); int main() { a<<<1, 64>>>(0); }'
    fails_with 2 "k.cu:3: k.cu has no kernel 'a', only this prototype. Name the file that defines the kernel"
    sed -i 1,2d k.cu
    tool new --from k.cu --kernel a
    fails_with 2 "k.cu:1: k.cu has no kernel 'a', only this prototype"
    echo '__global__ void a(float *x) { x[threadIdx.x] = 0; }' >a.cuh
    sed -i '1s/^/#include "a.cuh"\n/' k.cu
    tool new --from k.cu
    [[ $status -eq 0 && $output == *"block = "* ]]
    try 'template <int N> __global__ void a(float *x) {}'
    fails_with 2 'k.cu:3: a is a template, template <int N>'
    try '__global__ void a(float **x) {}'
    fails_with 2 'x = at.scratch { dtype = "uint64"'
    fails_with 2 "float **x leads to addresses"
    sed -i 's/ sizes/ buffers = { x = at.scratch { dtype = "float", count = 8 } } sizes/' head
    try '__global__ void a(float **x) { x[0] = 0; }'
    fails_with 2 'a pointer to addresses, but this buffer has the type float; give it dtype = "uint64"'
    sed -i 's/ buffers = .* sizes/ sizes/' head
    try 'struct S { float a, b; }; __global__ void a(float *x, S s, void *q) {}'
    fails_with 2 's = at.struct { at.float(0), at.float(0) }'
    fails_with 2 'q = at.inout { dtype = "float"'
    try '__global__ void a(float *x, cudaTextureObject_t t) {}'
    fails_with 2 't = at.texture { buffer = '
    try '__global__ void a(float *x, cudaSurfaceObject_t s) {}'
    fails_with 2 's = at.surface { buffer = '
    try '#include "there/none.h"
__global__ void a(float *x) { x[0] = none(N); }'
    fails_with 2 "k.cu(4)"
    fails_with 2 "-I DIR names a folder that has them: there/none.h"
    fails_with 2 "Nothing defines N, none. The host code of the file is not compiled. Correct a misspelt name, or give a macro a value in space or problem"
    printf '\0' >>k.cu
    tool check k.cu
    fails_with 2 "contains a NUL character"
}

@test "several kernels of a file run one after the other" {
    cat >two.cu <<'CU'
/* autotune
problem = { n = 1 << 16 }  space = { B = { 64, 128 } }  sizes = { x = "n", y = "n" }  outputs = "y"
launches = { { entry = "copy", grid = "ceil_div(n, B)", block = "B" }, { entry = "twice", grid = "ceil_div(n, B)", block = "B" } } */
__global__ void copy(const float *x, float *y, int n) { int i = blockIdx.x * B + threadIdx.x; if (i < n) y[i] = x[i]; }
__global__ void twice(float *y, int n) { int i = blockIdx.x * B + threadIdx.x; if (i < n) y[i] *= 2; }
CU
    tool check two.cu --budget 2
    succeeds
    says "2 agree"
}

@test "smaller problems keep the properties that the kernel relies on" {
    cat >rows.cu <<'CU'
/* autotune
problem = { width = 3072, height = 3072, pitch = 3072, times = 3 }  space = { BLOCK = { 64, 128 }, STEPS = { 1, 2 } }
launch  = { grid = { "width // (BLOCK * STEPS)", "height" }, block = "BLOCK" }  outputs = "out"
sizes   = { in_ = "width * height", out = "width * height" } */
__global__ void rows(float *out, const float *in, int pitch, int times)
{
    for (int i = 0; i < STEPS; i++) {
        int at = blockIdx.y * pitch + (blockIdx.x * STEPS + i) * BLOCK + threadIdx.x;
        out[at] = times * in[at];
    }
}
CU
    tool check rows.cu --budget 4
    succeeds
    says "4 agree"
    says "the small problem width=256 height=256 pitch=256,"
    says "no ragged problem"
}

@test "a kernel may use the names of std that device code has" {
    cat >clamp.cu <<'CU'
/* autotune
problem = { n = 4096 }  space = { BLOCK = { 64 } }  launch = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }  sizes = { x = "n" } */
#include <algorithm>
#include <limits>
#include <tuple>
__global__ void clamp(float *x, std::size_t n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        x[i] = std::max(std::numeric_limits<float>::lowest(), std::sqrt(std::get<0>(std::tuple<float>(x[i]))));
}
CU
    tool emit clamp.cu --ptx
    succeeds
    says "sqrt.rn.f32"
    says_nothing_of "f64"
}

@test "a default computed from other macros is the baseline, and values that cannot be computed are requested" {
    sed 's/^#define BLOCK .*/#define WARP 32u\n#define BLOCK (4 * WARP)/' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool check saxpy.cu --device sim:sm_90
    succeeds
    says 'BLOCK=128'
    sed 's/^#define BLOCK .*/#define BLOCK (4 * warpSize)/' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool check saxpy.cu --device sim:sm_90
    fails_with 2 "or choose the baseline: baseline = { BLOCK = "
}

@test "a compiled program in the kernel file's folder does no harm" {
    cp "$FIXTURES/saxpy.cu" .
    printf '\177ELF' >saxpy
    tool space saxpy --arch sm_90
    succeeds
}

@test "a parameter whose name is a Lua keyword gets another name, which the output shows" {
    sed 's/sizes *= {/sizes = { in = "n",/' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool space saxpy.cu --arch sm_90
    fails_with 2 "'in' is a word of Lua: the kernel's parameter of that name is in_ here"
}

@test "expressions may read the file's macros, and a constant without values is reported and filled as an input" {
    cat >stencil.cu <<'CU'
/* autotune
problem = { n = 4096 }
space   = { BLOCK = { 32, 64 }, PART = { 16, 32 } }
where   = "BLOCK == 2 * PART"
launch  = { grid = "n // THREADS", block = "THREADS" }
sizes   = { src = "n + 2 * RADIUS", dst = "n" }
*/
#define RADIUS 3
#ifdef OTHER
#define THREADS OTHER
#else
#define THREADS (1 * BLOCK)
#endif
__constant__ float weights[2 * RADIUS + 1];
__global__ void stencil(const float *src, float *dst, const float *more = nullptr, float scale = 1.0f)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = more ? more[i] : PART * 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * src[i + k];
    dst[i] = sum * scale;
}
CU
    tool check stencil.cu
    succeeds
    says "agrees      BLOCK=32,PART=16"
    [[ $errors == *'stencil.cu:5: nothing fills weights (stencil.cu:14), so it is zero; sizes = { weights = "2 * RADIUS + 1" } fills it like an input, outputs = { "'* ]]
    sed -i 's/sizes   = { /&weights = "2 * RADIUS + 1", /' stencil.cu
    tool check stencil.cu --config BLOCK=64,PART=32
    succeeds
    says "agrees"
    [[ $errors != *"is zero"* ]]
}

@test "blocks with too many threads are left out of the space" {
    describe 'problem = { n = 1 << 16, a = 2.0 } space = { BLOCK = at.pow2(64, 512), VEC = { 1, 2, 4 } } sizes = { x = "n", y = "n" }
launch = { grid = "ceil_div(n, BLOCK * VEC)", block = { "BLOCK", "VEC" } }'
    tool space saxpy.cu --arch sm_90
    succeeds
    says "BLOCK * VEC <= 1024"
    says "11 valid configurations"
}

@test "a problem variable written as an expression is refused, and the message suggests a derived value" {
    describe 'problem = { n = "m", a = 2.0, m = 64 } space = { BLOCK = { 128, 256 } } launch = { grid = 1, block = 64 } sizes = { x = "n", y = "n" }'
    tool space saxpy.cu --arch sm_90
    fails_with 2 'derived = { n = "m" }'
}

@test "a launch in the file that does not use the applied values is reported" {
    cp "$FIXTURES/saxpy.cu" .
    tool apply saxpy.cu --arch sm_90 --config BLOCK=128,VEC=4
    succeeds
    [[ $errors != *warning* ]]
    sed -i 's/saxpy<<<.*, BLOCK>>>/int blocks = (n + BLOCK - 1) \/ BLOCK; saxpy<<<blocks, BLOCK>>>/' saxpy.cu
    tool apply saxpy.cu --arch sm_90 --config BLOCK=128,VEC=4
    fails_with 1 'was not changed: adapt it to VEC = 4'
    fails_with 1 'grid 2048 x 1 x 1, block 128'
    fails_with 1 'saxpy.cu:43: the launch <<<blocks, BLOCK>>> (set in line 43) was not changed'
}

@test "apply names the lines at which another kernel uses the macro" {
    cat >two.cu <<'CU'
/* autotune
problem = { n = 1 << 20 }
space   = { BLOCK = at.pow2(64, 1024) }
kernel  = { entry = "b" }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n" }
*/
#define BLOCK 256
__global__ void a(float *x, int n) { int i = blockIdx.x * BLOCK + threadIdx.x; if (i < n) x[i] = 1; }
__global__ void b(float *x, int n) { int i = blockIdx.x * BLOCK + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void c(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
void run(float *x, int n)
{
    a<<<(n + 255) / 256, 256>>>(x, n);
    b<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, n);
    c<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(x, n);
}
CU
    tool apply two.cu --config BLOCK=256
    succeeds
    tool apply two.cu --config BLOCK=64 --write
    fails_with 1 'two.cu:9: another kernel uses BLOCK here, too'
    fails_with 1 'two.cu:16: another kernel uses BLOCK here, too'
    fails_with 1 'has the new values, but not at the places above'
    [[ $errors != *two.cu:14* && $errors != *two.cu:15* ]]
}

@test "the suggested comment has the launch of the file, and leaves out computed values" {
    cat >blur.cu <<'CU'
#define WIDTH 512
#define TAPS 9
#define TILE 16
template <int ROWS> __global__ void blur(const float *src, float *dst, int height)
{
    __shared__ float tile[ROWS][TILE + TAPS];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = 0;
    for (int k = 0; k < TAPS && y < height; k++)
        dst[y * WIDTH + x] += src[y * WIDTH + x + k];
}
void run_some(const float *in, float *out, int rows, const int *sizes) { blur<8><<<1, sizes[0]>>>(in, out, rows); }
void run(const float *in, float *out, int rows)
{
    const int threads = 8;
    dim3 block(TILE, threads);
    dim3 grid(WIDTH / block.x, (rows + threads - 1) / threads);
    blur<8><<<grid, block>>>(in, out, rows);
}
CU
    tool new --from blur.cu
    succeeds
    says 'grid = { "WIDTH // TILE", "ceil_div(height, ROWS)" }, block = { "TILE", "ROWS" }'
    says '<<<grid, block>>>'
    says 'TILE = at.pow2(4, 64)'
    says "WIDTH may say what is computed"
    says_nothing_of "WIDTH = "
}

@test "0 is not suggested for a number of the launch, and values that a formula cannot use are named" {
    cat >copy.cu <<'CU'
#define ROWS 1
__global__ void copy(const float *src, float *dst, int n)
{
    for (int i = blockIdx.x * ROWS * 128 + threadIdx.x; i < n && i < (blockIdx.x + 1) * ROWS * 128; i += 128)
        dst[i] = src[i];
}
int main()
{
    int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    copy<<<(n + 128 * ROWS - 1) / (128 * ROWS), 128>>>(in, out, n);
}
CU
    tool new --from copy.cu --write
    succeeds
    grep -q 'ROWS = at.pow2(1, 4)' copy.cu
    sed -i 's/ROWS = at.pow2(1, 4)/ROWS = { 0, 1 }/' copy.cu
    tool check copy.cu --config ROWS=0
    fails_with 2 "bad argument #2 to 'ceil_div' (must be positive), where n is 32768 (in the small problem), ROWS is 0"
}

@test "the costs of a line have the line number of the kernel's own file" {
    cp "$FIXTURES/saxpy.cu" .
    tool explain saxpy.cu --device sim:sm_90
    succeeds
    grep -E "load +$(grep -n 'y\[i\] = a' saxpy.cu | cut -d: -f1)  .*y\[i\] = a" out.txt
}

@test "a parameter may have a name that the Toolkit's headers use" {
    cat >tile.cu <<'CU'
// A header of the Toolkit, which has templates with a Size.
#ifndef Size
#define Size 32
#endif
#include <cooperative_groups.h>
/* autotune
problem = { n = 4096 }
space   = { Size = { 16, 32 } }
launch  = { grid = "n // 128", block = 128 }
sizes   = { x = "n" }
*/
namespace cg = cooperative_groups;
__global__ void shift(float *x)
{
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    int i = blockIdx.x * 128 + threadIdx.x;
    x[i] = tile.shfl(x[i], tile.thread_rank()) + 1;
}
CU
    tool check tile.cu
    succeeds
    tool emit tile.cu --no-line
    [ "$(grep -nE '^#(include|define)' out.txt | cut -d: -f2 | cut -d' ' -f1 | paste -sd' ')" = "#include #define" ]
}

@test "the suggested comment can be read without changes" {
    cat >image.cu <<'CU'
__global__ void clear(float *out) { out[threadIdx.x] = 0; }
__global__ void copy(float *out, float scale, cudaTextureObject_t image)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    out[x] = scale * tex2D<float>(image, x, 0);
}
void run(float *out, cudaTextureObject_t image, int blocks) { copy<<<blocks, 64>>>(out, 2.0f, image); }
CU
    tool new --from image.cu --kernel copy --write
    succeeds
    says 'grid = "blocks", block = "64"'
    tool check image.cu
    fails_with 2 "3 questions are open; write a value in the place of each at.ask:"
    fails_with 2 "problem.blocks: given by who calls run, image.cu:21"
    fails_with 2 "sizes.out: how many elements out has, image.cu:21"
    sed -i 's/blocks = at.ask "[^"]*"/blocks = 8/; s/out = at.ask "[^"]*"/out = "64 * blocks"/; s/image = at.ask "[^"]*"/image = at.texture { buffer = "texels", size = { 64 } }/; s/^sizes/buffers = { texels = at.input { dtype = "float", count = 64 } }\nsizes/' image.cu
    tool space image.cu --arch sm_90
    succeeds
}

@test "the suggested comment has sizes and numbers of the host code, through calls of functions" {
    cat >rows.cu <<'CU'
#include <vector>
struct pair_of { float a, b, c; };
__global__ void rows(float *out, const float *in, const int *places, const pair_of *pairs, int total, int cols, float scale)
{
    extern __shared__ float sums[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < total ? in[places[i]] * scale + pairs[0].c : 0; // BLOCK
    if (i < total) out[i] = sums[threadIdx.x] + cols;
}
static void launch(float *out, const float *in, const int *places, const pair_of *pairs, int n, int m, int block_size)
{
    // twice nothing
    size_t bytes = block_size * sizeof(float); /* of a block */
    rows<<<(n * m + block_size - 1) / block_size, block_size, bytes>>>(out, in, places, pairs, n * m, m, 0.5f);
}
int main()
{
    int height = 96, width = 1000;
    float *d_out, *d_in; int *d_places; pair_of *d_pairs;
    const size_t bytes = height * width * sizeof(float);
    cudaMalloc((void **)&d_out, bytes);
    cudaMalloc(&d_in, bytes);
    cudaMalloc(&d_places, sizeof(int) * height * width);
    cudaMalloc(&d_pairs, 7 * sizeof(pair_of));
    for (int block = 32; block <= 1024; block *= 2) launch(d_out, d_in, d_places, d_pairs, height, width, block);
}
CU
    tool new --from rows.cu --write
    succeeds
    says 'height = 96,   -- rows.cu:46: int height = 96'
    says 'cols = 1000,   -- rows.cu:46: width = 1000'
    says 'total = "height * cols"'
    says 'grid = "ceil_div(height * cols, BLOCK)", block = "BLOCK", shared = "BLOCK * 4"'
    says 'out = "height * cols",   -- rows.cu:49'
    says 'places = at.input { fill = "below", limit = at.ask "places has places in another buffer: below what? If they are none, fill = at.values { ... }" }'
    says 'pairs_ = at.input { dtype = "float", count = "3 * 7" }'
    sed -i 's/at.ask "[^"]*"/"cols"/' rows.cu
    tool check rows.cu --budget 2
    says "agree with the baseline"
}

@test "a file that another file includes is refused, with the other file's name" {
    printf '#define TWICE(x) (2 * (x))\n#include "piece.cu"\n' >whole.cu
    printf '__global__ void twice(float *x) { x[threadIdx.x] = TWICE(x[threadIdx.x]) + side(); }\n' >piece.cu
    tool new --from piece.cu
    fails_with 2 "whole.cu includes this file and may define what is missing: give that file instead"
}

@test "device code may use types from headers of libraries and of Thrust" {
    cat >types.cu <<'CU'
#include <cublas_v2.h>
#include <thrust/device_vector.h>
#include <thrust/tuple.h>
/* autotune
problem = { n = 1024 }
space   = { BLOCK = { 64, 128 } }
launch  = { grid = "n // BLOCK", block = "BLOCK" }
sizes   = { x = "n" }
*/
__global__ void both(__nv_bfloat16 *x)
{
    thrust::tuple<float, int> t = thrust::make_tuple(1.0f, 2);
    x[blockIdx.x * BLOCK + threadIdx.x] = __float2bfloat16(thrust::get<0>(t) + thrust::get<1>(t));
}
int main() { thrust::device_vector<float> v(3); cublasHandle_t h; cublasCreate(&h); }
CU
    tool check types.cu
    succeeds
}

@test "a kernel inside a false #if is reported as such" {
    printf '#define WIDE\n#ifndef WIDE\n__global__ void narrow(float *x) { x[0] = 1; }\n#endif\n' >under.cu
    tool new --from under.cu
    fails_with 2 "the compiler finds no such kernel"
}

saxpy_with() { # saxpy_with SED: writes the fixture, changed by SED, to bad.cu, and checks it
    sed "$1" "$FIXTURES/saxpy.cu" >bad.cu
    tool check bad.cu --budget 1
}

@test "errors in a file have its line and a remedy" {
    saxpy_with 's/^problem/space = { N = { 1 } }\nproblem/'
    fails_with 2 "space is given twice"
    printf '__global__ void k(float *x)\n{\n    if (x) { x[0] = 1;\n}\n' >open.cu
    tool new --from open.cu
    fails_with 2 "the brace that opens in line 2 is never closed"
    saxpy_with 's/^#define VEC 2/enum { VEC = 2, OTHER };/'
    fails_with 2 "VEC cannot be a parameter: it is"
    saxpy_with 's/^#define VEC 2/const int OTHER = 1, VEC = 2;/'
    fails_with 2 "VEC cannot be a parameter: it is"
    saxpy_with 's/BLOCK = at.pow2(64, 512)/BLOCK = math.max/'
    fails_with 2 "values are numbers, strings and booleans"
    saxpy_with 's/x = "n"/x = n/'
    fails_with 2 'bad.cu:12: nothing is called n here; write an expression as a text: "n"'
    { printf '// \xff\n'; cat "$FIXTURES/saxpy.cu"; } >bad.cu
    tool check bad.cu
    fails_with 2 "bad.cu:1: this line has the byte 0xff, where the"
    mkdir folder.cu
    ln -s turn.cu turn.cu
    tool check folder.cu
    fails_with 2 "folder.cu is not a file that can be read: a folder"
    tool check turn.cu
    fails_with 2 "a link to itself"
    printf '#define KERNEL(T) __global__ void k(T *x) {}\nKERNEL(float)\n' >made.cu
    tool new --from made.cu
    fails_with 2 "kernels made by a macro or a class are not found"
    printf '__global__ void k(float *x) {}\n__global__ void k(double *x, int n) {}\n' >two.cu
    tool new --from two.cu
    fails_with 2 'kernel = { entry = "(void (*)(double *, int)) k" }'
}

@test "a byte order mark, CR LF and tabs are accepted" {
    { printf '\xef\xbb\xbf'; sed 's/$/\r/; s/    /\t/g' "$FIXTURES/saxpy.cu"; } >marked.cu
    tool check marked.cu --budget 2
    succeeds
    tool apply marked.cu --arch sm_90 --config BLOCK=128,VEC=4 --write
    succeeds
    tool apply marked.cu --arch sm_90 --config BLOCK=256,VEC=2 --write
    cmp marked.cu <(printf '\xef\xbb\xbf'; sed 's/$/\r/; s/    /\t/g' "$FIXTURES/saxpy.cu")
}

@test "a warp's size is no parameter beside a computed number of warps, and a dependent size stays a number" {
    cat >warps.cu <<'CU'
#define TILE 64
__global__ void warps(float *x)
{
    int stride = gridDim.x * blockDim.y * 32;
    for (int i = (blockIdx.x * blockDim.y + threadIdx.y) * 32 + threadIdx.x; i < 16 * TILE; i += stride) x[i] += 1;
}
static void run(float *d_x, int threads) { warps<<<16, dim3(32, threads / 32)>>>(d_x); }
int main() { float *d_x; cudaMalloc(&d_x, 16 * TILE * sizeof(float)); run(d_x, 256); }
CU
    tool new --from warps.cu
    succeeds
    says 'block = { "32", "threads // 32" }'
    says 'threads = at.pow2(64, 1024)'
    says 'x = "16 * TILE"'
}

@test "for a kernel that the file does not launch, the comment asks for the missing values" {
    cat >heat.cu <<'CU'
__global__ void heat(float *out, const float *in, int height)
{
    int y = blockIdx.x * ROWS + threadIdx.x;
    if (y < height)
        out[y] = in[y] * 0.5f;
}
CU
    tool new --from heat.cu --write
    succeeds
    says 'ROWS = at.ask "nothing defines ROWS: the values to try"'
    tool check heat.cu
    fails_with 2 "6 questions are open"
    fails_with 2 "launch.grid: nothing in the file launches heat"
}

functors() { # functors: writes reduce.cu; its kernel is a template with types, values and numbers as parameters
    cat >reduce.cu <<'CU'
enum how { PLAIN, TWICE };
template <class T> struct sum_of { __device__ T operator()(T a, T b) const { return a + b; } };
template <class T> struct plus { __device__ T operator()(T a, T b) const { return b + a; } };
template <int N> struct traits { static constexpr int warps = N / 32; };
template <class T, class Op> __device__ T across(T v, Op op)
{
    for (int d = 16; d > 0; d /= 2)
        v = op(v, __shfl_xor_sync(~0u, v, d));
    return v;
}
template <class Op, how HOW, int BLOCK, typename T = float> __global__ void reduce(T *out, const T *in, int n, Op op = Op())
{
    __shared__ T part[traits<BLOCK>::warps];
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    const T v = across(i < n ? in[i] * (HOW == TWICE ? 2 : 1) : T(0), op);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < traits<BLOCK>::warps)
        out[blockIdx.x * traits<BLOCK>::warps + threadIdx.x] = part[threadIdx.x];
}
void run(float *out, const float *in, int n)
{
    reduce<sum_of<float>, TWICE, 64><<<(n + 63) / 64, 64>>>(out, in, n);
}
CU
}

@test "a template has the types and numbers of the file's own launch" {
    functors
    tool new --from reduce.cu
    succeeds
    says 'entry = "reduce<sum_of<float>, TWICE, ${BLOCK}, float>"'
    says "BLOCK = at.pow2(16, 256)"
    says 'grid = "ceil_div(n, BLOCK)", block = "BLOCK"'
    says_nothing_of "op = "
    # Without a launch in the file, --kernel gives the template's arguments.
    sed -i '/^void run/,$d' reduce.cu
    tool new --from reduce.cu --kernel 'reduce<sum_of<float>, PLAIN, 64>'
    succeeds
    sed -i 's/class Op, how/class Zip, how/' reduce.cu
    sed -i 's/Op op = Op()/typename Zip::with op/' reduce.cu
    tool new --from reduce.cu
    fails_with 2 'of template <class Zip,'
}

@test "a parameter may stand for a class argument of a template, and an empty class is not requested" {
    functors
    cat >fields.lua <<'END'
problem = { n = 5000 }
space = { BLOCK = { 64, 128 }, OP = { "sum_of<float>", "plus<float>" } }
launch = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
kernel = { entry = "reduce<${OP}, PLAIN, ${BLOCK}>" }
sizes = { out = "n", in_ = "n" }
simulated, ragged = {}, false
END
    tool check reduce.cu --describe fields.lua --device sim:sm_90 --only BLOCK=64 --budget 2
    succeeds
    says "2 agree"
}

@test "the reference may not read parameters of the launch" {
    cat >refers.cu <<'CU'
/* autotune
problem = { n = 64 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = 1, block = "BLOCK" }
sizes   = { x = "n" }
*/
__global__ void refers(float *x, const int &n) { x[threadIdx.x % n] = 2; }
CU
    tool check refers.cu --device sim:sm_90
    fails_with 2 "the kernel's parameter const int &n is a reference, which a launch"
}

@test "a kernel that launches another is refused, and the message names the line" {
    cat >nested.cu <<'CU'
__global__ void child(float *x, int n) { x[threadIdx.x] *= 2; }
/* autotune
problem = { n = 64 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = 1, block = "BLOCK" }
kernel  = { entry = "parent" }
sizes   = { x = "n" }
*/
__global__ void parent(float *x, int n)
{
    child<<<1, 64>>>(x, n);
}
CU
    tool check nested.cu --device sim:sm_90
    fails_with 2 "nested.cu:11: this kernel launches another kernel from the device, which is not"
}

@test "a table between two macros is kept complete, with each definition of the macros" {
    cat >table.cu <<'CU'
#ifdef FOR_THE_HOST
#define BEGIN_TABLE(name, n) static const int name[n] = {
#define END_TABLE() };
#else
#define BEGIN_TABLE(name, n) static const __device__ int name[n] = {
#define END_TABLE() };
#endif
BEGIN_TABLE(odd, 2)
    1, 3
END_TABLE()
BEGIN_TABLE(even, 2)
    2, 4
END_TABLE()
/* autotune
problem = { n = 100 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n" }
*/
__global__ void add(int *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        x[i] = even[i % 2];
}
CU
    tool check table.cu --device sim:sm_90
    succeeds
}

@test "headers of one name in two folders differ, a header with two paths is one, and <name> is not the neighbour" {
    mkdir -p a b
    cat >both.cu <<'CU'
#include "a/x.h"
#include "a/y.h"
#include "b/y.h"
#include "./b/../a/x.h"
/* autotune
problem = { n = 100 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n" }
*/
__global__ void both(int *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        x[i] = of_a() + of_b() + (int)cooperative_groups::this_thread_block().size();
}
CU
    printf '#pragma once\nstruct pair { int v; };\n__device__ inline int three() { return 3; }\n' >a/x.h
    printf '#pragma once\n#include "x.h"\n#include "z.h"\n#include <cooperative_groups.h>\n%s\n' \
        '__device__ inline int of_a() { pair p = { three() + z_of_a() }; return p.v; }' >a/y.h
    printf '#pragma once\n#include "z.h"\n__device__ inline int of_b() { return z_of_b(); }\n' >b/y.h
    printf '#pragma once\n__device__ inline int z_of_a() { return 1; }\n' >a/z.h
    printf '#pragma once\n__device__ inline int z_of_b() { return 2; }\n' >b/z.h
    echo '#error the wrong one' >a/cooperative_groups.h
    tool check both.cu --device sim:sm_90
    succeeds
}

@test "a header may have names in a namespace that are macros of the Toolkit" {
    cat >named.cu <<'CU'
#include <cmath>
namespace own {
enum {
    FP_NAN =
#define FP_NAN 0
        FP_NAN
};
}
/* autotune
problem = { n = 100 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { x = "n" }
*/
__global__ void named(float *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        x[i] = std::fpclassify(x[i]) == FP_NORMAL ? FP_NAN : std::hypot(x[i], 1.0f);
}
CU
    tool check named.cu --device sim:sm_90
    succeeds
}

@test "an #include may be a macro or follow __has_include, and the compiler's options apply when the kernel's type is read" {
    mkdir -p conf
    echo '__device__ inline int three() { return 3; }' >conf/sizes.h
    cat >asks.cu <<'CU'
#define CONFIG "conf/sizes.h"
#include CONFIG
#if __has_include("nowhere.h")
#include "nowhere.h"
#endif
#if __has_include(<cuda/std/array>)
#include <cuda/std/array>
#endif
/* autotune
problem = { n = 100 }
space   = { BLOCK = { 32, 64 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
kernel  = { options = { "-default-device", "-DELEMENT=int", "-DTWICE=${2 * BLOCK}" } }
sizes   = { x = "n" }
*/
int one() { return 1; }
__global__ void asks(ELEMENT *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    static_assert(TWICE == 2 * BLOCK, "the option follows the parameter");
    cuda::std::array<int, 2> a{three(), one()};
    if (i < n)
        x[i] = a[0] + a[1];
}
CU
    tool check asks.cu --device sim:sm_90 --budget 2
    succeeds
    says "2 agree"
}

@test "a comment is written even for declarations that each contain the previous one twice" {
    {
        echo '__global__ void k(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }'
        echo 'int main(int argc, char **argv) {'
        echo '    int v0 = argc; float *x;'
        for i in {1..40}; do echo "    int v$i = v$((i - 1)) + v$((i - 1)) / 2;"; done
        echo '    k<<<(v40 + 255) / 256, 256>>>(x, v40);'
        echo '}'
    } >chain.cu
    run timeout 100 "$AUTOTUNE" new --from chain.cu
    [ "$status" -eq 0 ]
    says 'BLOCK = at.pow2(64, 1024)'
}

@test "a message about a misspelt buffer names the intended parameter" {
    echo "/* autotune
problem = { n = 4096 } ragged = false space = { B = { 64 } } launch = { grid = 1, block = 'B' } sizes = { x = 'n', y = 'n' }
buffers = { yy = at.output { dtype = 'float', count = 'n' } } */
__global__ void a(const float *x, float *y) { y[threadIdx.x] += x[threadIdx.x]; }" >k.cu
    tool check k.cu
    fails_with 2 "k.cu:3: buffers.yy: the kernel has no parameter 'yy'; did you mean 'y'?"
    sed -i 's/yy/y/' k.cu
    tool check k.cu
    [ "$status" -eq 1 ] # the kernel reads y, which is an output without contents
    sed -i 's/y = at.output/y = at.inout/' k.cu
    tool check k.cu
    [ "$status" -eq 0 ]
}

@test "a size may depend on a parameter of the layout, and traffic uses that of the baseline" {
    echo "/* autotune
problem = { n = 4096 } ragged = false space = { B = { 64, 128 } } launch = { grid = 'blocks', block = 'B' }
derived = { blocks = 'n // B' } layout = { 'B' } sizes = { x = 'n', sums = 'blocks' } outputs = { 'sums' } */
__global__ void a(const float *x, float *sums)
{
    float sum = 0;
    for (int i = 0; threadIdx.x == 0 && i < B; i++) sum += x[blockIdx.x * B + i];
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}" >k.cu
    tool check k.cu --budget 2
    [ "$status" -eq 0 ]
    [[ $output == *"2 agree"* ]]
    sed -i "s/ layout = { 'B' }//" k.cu
    tool check k.cu
    fails_with 2 "must be the same for all variants"
}

@test "two arguments with the same pointer in the host code are one buffer" {
    cat >shift.cu <<'EOF'
/* autotune
problem = { n = 1 << 16 }
space   = { BLOCK = { 128, 256 } }
launch  = { grid = "ceil_div(n, BLOCK)", block = "BLOCK" }
sizes   = { from = "n", to = "n" }
*/
#define BLOCK 128
__global__ void shift(const float *from, float *to, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i + 1 < n)
        to[i] = from[i + 1];
}
int main()
{
    float *x = nullptr, *y = nullptr;
    shift<<<512, BLOCK>>>(x, x, 1 << 16);
}
EOF
    tool check shift.cu --device sim:sm_90
    [ "$status" -eq 1 ]
    says "data race"
    sed -i 's/(x, x,/(x, y,/' shift.cu
    tool check shift.cu --device sim:sm_90
    succeeds
    sed -i 's/^launch/kernel = { args = { from = "to" } }\nlaunch/' shift.cu
    tool check shift.cu --device sim:sm_90
    [ "$status" -eq 1 ]
    says "data race"
}

summed() { # summed COUNT: writes many.cu; its kernel has COUNT + 2 parameters
    local list="" sum="" i
    for ((i = 0; i < $1; i++)); do
        list+=", int p$i"
        sum+=" + p$i"
    done
    printf '%s\n' "/* autotune" "problem = { n = 1000 }" "launch = { grid = 'ceil_div(n, 128)', block = 128 }" \
        "sizes = { y = 'n' }" "outputs = { 'y' }" "kernel = { args = {}}" "for i = 0, $1 - 1 do kernel.args['p' .. i] = i end" \
        "*/" "__global__ void many(int *y, int n$list)" "{" \
        "    int i = blockIdx.x * 128 + threadIdx.x;" "    if (i < n)" "        y[i] = i$sum;" "}" >many.cu
}

@test "a kernel may have a thousand parameters, and too many are refused" {
    summed 1022
    tool check many.cu
    succeeds
    says "1 agrees with the baseline"
    summed 1023
    tool check many.cu
    fails_with 2 "the kernel many takes 1025 arguments; at most 1024 are allowed"
}

@test "an array of the module is an output if `outputs` names it" {
    cat >squares.cu <<'CU'
/* autotune
problem = { n = 1000 }
launch = { grid = "ceil_div(n, 128)", block = 128 }
outputs = { "squares" }
CU
    cp squares.cu whole.cu
    printf '%s\n' 'sizes = { squares = "n" }' >>squares.cu
    for file in squares.cu whole.cu; do
        cat >>$file <<'CU'
reference = at.reference { template = "right.cu", args = { "squares", "n" }, grid = 8, block = 128 }
*/
#define MOST 1024
__device__ long long squares[MOST];
__global__ void square(int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        squares[i] = (long long)i * i;
}
CU
    done
    cat >right.cu <<'CU'
extern "C" __global__ void reference(long long *squares, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n)
        squares[i] = (long long)i * i;
}
CU
    tool check squares.cu
    succeeds
    says "1 proven"
    sed -i 's/(long long)i \* i;/(long long)i * i + (i == 77);/' squares.cu
    tool check squares.cu
    [ "$status" -eq 1 ] || { echo "exit $status: $output"; return 1; }
    says "squares[77]"
    # If the pattern has no size, all elements are results.
    tool check whole.cu
    fails_with 2 "two runs of the reference kernel give different squares"
}

@test "the suggested comment traces numbers through templates, lambdas, structures and references" {
    cat >many.cu <<'CU'
#include <vector>
#define LIMIT 2.5f
struct shape { float scale; int rows; };
template <typename T> struct twice { static __device__ T of(T v) { return v + v; } };
template <typename T, template <typename> class Op, int THREADS> __global__ void fold(T *out, const T *in, shape s, float limit)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < s.rows) out[i] = s.scale * Op<T>::of(in[i]) + limit;
}
void choose(int n, int &blocks, int &threads) { threads = n < 128 ? n : 128; blocks = (n + threads - 1) / threads; }
template <typename T, template <typename> class Op> void start(T *out, const T *in, shape s)
{
    constexpr int kThreads = 128;
    int blocks = 0, threads = 0;
    choose(s.rows, blocks, threads);
    fold<T, Op, kThreads><<<blocks, threads>>>(out, in, s, LIMIT / 2);
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1 << 14;
    std::vector<float> host(n);
    float *in, *out;
    cudaMalloc(&in, host.size() * sizeof(float));
    cudaMalloc((void **)&out, sizeof(float) * n);
    shape s{0.5f, n};
    auto run = [&](int times) { for (int i = 0; i < times; i++) start<float, twice>(out, in, s); };
    run(3);
}
CU
    tool new --from many.cu --write
    succeeds
    says 'entry = "fold<float, twice, ${THREADS}>", args = { s = at.struct { at.float(0.5), at.int32("n") } }'
    says 'n = 1 << 14,   -- many.cu:40: int n = argc > 1 ? atoi(argv[1]) : 1 << 14, unless the command line says another'
    says 'grid = "ceil_div(n, THREADS)", block = "THREADS"'
    says 'limit = 1.25'
    says 'THREADS = 128'
    tool check many.cu --budget 3
    succeeds
    says "3 agree with the baseline"
}

@test "a misspelt name in the file's comment is refused" {
    printf '__global__ void add(float *x, int n, float alpha) { x[threadIdx.x] += alpah; }\nint main() { float *x; cudaMalloc(&x, 256); add<<<1, 64>>>(x, 64, 2.0f); }\n' >typo.cu
    tool new --from typo.cu
    fails_with 2 "typo.cu:1: nothing defines alpah, which add reads; did you mean 'alpha'?"
}

@test "without libclang the message says what to install" {
    printf '#include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\nvoid *dlopen(const char *name, int how) { static void *(*next)(const char *, int); if (!next) next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen"); return name && strstr(name, "libclang") ? NULL : next(name, how); }\n' >none.c
    cc -D_GNU_SOURCE -shared -fPIC -o none.so none.c
    printf '__global__ void one(float *x) { *x = 1; }\n' >one.cu
    LD_PRELOAD=$PWD/none.so tool new --from one.cu
    fails_with 3 "sudo apt-get install libclang1"
}

@test "the comment that 'new' prints may be a separate file, and an integer may be written as 1e4" {
    sed '/^.. autotune/,/^..$/d' "$FIXTURES/saxpy.cu" >saxpy.cu
    tool new --from saxpy.cu
    cp out.txt saxpy.fields.lua
    tool check saxpy.cu --describe saxpy.fields.lua --budget 2
    succeeds
    sed -i 's/n = 1 << 20/n = 1e4/' saxpy.fields.lua
    tool check saxpy.cu --describe saxpy.fields.lua --budget 2
    succeeds
    sed -i 's/n = 1e4/n = 1.5/' saxpy.fields.lua
    tool check saxpy.cu --describe saxpy.fields.lua
    fails_with 2 "problem.n is 1.5, but the kernel's parameter is a whole number: int64_t n"
}

@test "macros that open and close namespaces are kept, and declarations that the kernel does not use are left out" {
    printf '#pragma once\n#define LIB_BEGIN namespace lib {\n#define LIB_END }\n' >config.h
    printf '#pragma once\n#include "config.h"\nLIB_BEGIN\n__device__ inline float twice(float a) { return a + a; }\nLIB_END\n' >lib.h
    cat >add.cu <<'CU'
/* autotune
problem = { n = 1024 }
space   = { BLOCK = { 128 } }
launch  = { grid = "n // BLOCK", block = "BLOCK" }
sizes   = { x = "n", y = "n" }
outputs = { "y" }
*/
#include <hostlib.h>
#include "lib.h"
using handle_t = host_t;
class context { handle_t h; };
LIB_BEGIN
__device__ inline float more(float a) { return twice(a) + 1; }
LIB_END
__device__ int unused;
__global__ void add(const float *x, float *y)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    y[i] = lib::more(x[i]);
}
CU
    tool check add.cu
    succeeds
    says "agrees"
    sed -i 's/^LIB_BEGIN/namespace lib {/' add.cu
    tool check add.cu
    succeeds
}

@test "numbers of launches, constants and template arguments are applied, and values that cannot be applied are named" {
    cat >sum.cu <<'CU'
/* autotune
problem = { n = 1 << 16 }
space   = { THREADS = { 64, 128, 256 }, UNROLL = { 2, 4, 8 }, ROWS = { 4, 8 } }
baseline = { THREADS = 128, UNROLL = 4, ROWS = 8 }
kernel  = { entry = "sum<float, ${THREADS}, ${UNROLL}>" }
launch  = { grid = "ceil_div(n, THREADS * UNROLL)", block = { "THREADS", "ROWS // 4" } }
sizes   = { y = "n", x = "n" }
*/
template <class T, int THREADS, int UNROLL> __global__ void sum(T *y, const T *x, int n)
{
    for (int i = blockIdx.x * THREADS * UNROLL + threadIdx.x; i < n && threadIdx.y == 0 && i < (blockIdx.x + 1) * THREADS * UNROLL; i += THREADS)
        y[i] = x[i];
}
void run(float *y, const float *x, int n, int side)
{
    constexpr int kThreads = 128;
    const dim3 block(kThreads, side);
    sum<float, kThreads, 4><<<(n + kThreads * 4 - 1) / (kThreads * 4), block>>>(y, x, n);
}
CU
    tool apply sum.cu --arch sm_90 --config THREADS=64,UNROLL=8,ROWS=8 --write
    succeeds
    grep -q 'constexpr int kThreads = 64;' sum.cu
    grep -q 'sum<float, kThreads, 8><<<(n + kThreads \* 8 - 1) / (kThreads \* 8), block>>>' sum.cu
    grep -q 'baseline = { THREADS = 64, UNROLL = 8, ROWS = 8 }' sum.cu
    tool apply sum.cu --arch sm_90 --config THREADS=64,UNROLL=8,ROWS=4
    fails_with 1 "sum.cu:18: the launch <<<(n + kThreads * 8 - 1) / (kThreads * 8), block>>> (set in line 17) was not changed: adapt it to ROWS = 4"
    lacks "has these values already" err.txt
}

@test "a buffer that the kernel only reads is an input, even without const" {
    cat >axpy.cu <<'CU'
__global__ void axpy(int n, float a, float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main()
{
    int n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    axpy<<<(n + 255) / 256, 256>>>(n, 2.0f, x, y);
}
CU
    tool new --from axpy.cu --write
    succeeds
    says "x = at.input {}"
    says_nothing_of "y = at.input"
    tool check axpy.cu --budget 3
    succeeds
}

@test "a size in bytes is divided by the size of an element" {
    cat >part.cu <<'CU'
__global__ void part(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }
void run(float *unused, size_t bytes)
{
    float *x;
    cudaMalloc(&x, bytes);
    part<<<1, 64>>>(x, 64);
}
CU
    tool new --from part.cu
    succeeds
    says 'x = "bytes // 4"'
}

@test "a block that is written as a number follows the macro that the kernel uses for it" {
    cat >tile.cu <<'CU'
#define BLOCK_SIZE 32
__global__ void shift(float *y, const float *x)
{
    __shared__ float tile[BLOCK_SIZE];
    tile[threadIdx.x] = x[blockIdx.x * BLOCK_SIZE + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * BLOCK_SIZE + threadIdx.x] = tile[BLOCK_SIZE - 1 - threadIdx.x];
}
int main()
{
    const int n = 4096;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    shift<<<n / 32, 32>>>(y, x);
}
CU
    tool new --from tile.cu
    succeeds
    says 'grid = "n // BLOCK_SIZE", block = "BLOCK_SIZE"'
}

@test "a pointer into a buffer is a separate buffer that ends with the first" {
    cat >push.cu <<'CU'
__global__ void push(float2 *place, float2 *speed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        place[i].x += speed[i].x;
        speed[i].y = place[i].y;
    }
}
int main()
{
    int n = 5000;
    float *all;
    cudaMalloc(&all, 4 * n * sizeof(float));
    push<<<(n + 127) / 128, 128>>>((float2 *)all, (float2 *)all + n, n);
}
CU
    tool new --from push.cu --write
    succeeds
    says_nothing_of "one buffer as both"
    says 'speed = "(4 * n * 4 - n * 8) // 8"'
    tool check push.cu --config BLOCK=64
    succeeds
}

@test "a macro that gives a buffer's size is a variable of the problem, and numbers depend on it" {
    cat >rows.cu <<'CU'
#define ROWS (1 << 11)
#define WIDTH 512
const int THREADS = 128;
__global__ void rows(float *sums, const float *in, int count, int half)
{
    float sum = 0;
    for (int i = 0; i < WIDTH; i++)
        sum += in[(blockIdx.x * blockDim.x + threadIdx.x) * WIDTH + i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum + half - count;
}
int main()
{
    float *sums, *in;
    cudaMalloc(&sums, ROWS * sizeof(float));
    cudaMalloc(&in, ROWS * WIDTH * sizeof(float));
    int count = ROWS, half = count / 2;
    rows<<<ROWS / THREADS, THREADS>>>(sums, in, count, half);
}
CU
    tool new --from rows.cu --write
    succeeds
    says "ROWS = 1 << 11,   -- rows.cu:$(grep -n "define ROWS" rows.cu | cut -d: -f1)" # the line of the file as the user wrote it
    says "WIDTH = 512,   -- rows.cu:$(grep -n "define WIDTH" rows.cu | cut -d: -f1)"
    says 'outputs = { "sums" }   -- only written'
    says 'count = "ROWS"'
    says 'half = "count // 2"'
    says 'in_ = "ROWS * WIDTH"'
    tool check rows.cu --config THREADS=64
    succeeds
    says "agrees"
}

@test "a block whose size decides a buffer's size is no parameter" {
    cat >partial.cu <<'CU'
#define THREADS 128
__global__ void partial(const float *in, float *out)
{
    __shared__ float first[THREADS];
    first[threadIdx.x] = in[blockIdx.x * THREADS + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = first[THREADS - 1];
}
int main()
{
    const int n = 1 << 16;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n / THREADS * sizeof(float));
    partial<<<n / THREADS, THREADS>>>(in, out);
}
CU
    tool new --from partial.cu --write
    succeeds
    says "THREADS may say what is computed"
    says 'out = "n // THREADS"'
    tool check partial.cu
    succeeds
}

@test "each dimension of the grid depends on the same dimension of the block" {
    cat >paint.cu <<'CU'
struct pixel {
    float r, g;
    __device__ void set(float v) { r = g = v; }
};
__global__ void paint(pixel *image, char *unused, int size, float step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size)
        image[y * size + x].set(step * x);
}
int main(int argc, char **argv)
{
    int size = atoi(argv[1]);
    float step = 0.5f / size;
    pixel *image;
    cudaMalloc(&image, size * size * sizeof(pixel));
    for (char c : argv[0]) putchar(c);
    enum { SIDE = 8 };
    dim3 grid((size + 7) / 8, (size + 7) / 8), block(SIDE, SIDE);
    if (cudaGetLastError() != cudaSuccess) return 1;
    paint<<<grid, block>>>(image, nullptr, size, step);
}
CU
    tool new --from paint.cu --write
    succeeds
    says 'grid = { "ceil_div(size, BLOCK_X)", "ceil_div(size, BLOCK_Y)" }'
    says 'step = "0.5 / size"'
    says "image = at.inout"
    says "unused = at.uint64(0)"
    sed -i 's/at.ask "[^"]*"/100/' paint.cu
    tool check paint.cu --config BLOCK_X=4
    succeeds
}

@test "new --from takes the arguments of the program's command line" {
    cat >sizes.cu <<'CU'
#include <helpers.h>
__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
int main(int argc, char **argv)
{
    int n = 0, threads = 256;
    float a = 1.0f, *x;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] == 'n') n = atoi(argv[++i]);
        if (strcmp(argv[i], "--factor") == 0) sscanf(argv[++i], "%f", &a);
    }
    if (n <= 0) {
        show_usage(argv[0]);
        exit(1);
    }
    check_errors(cudaMalloc(&x, n * sizeof(float)));
    scale<<<(n + threads - 1) / threads, threads>>>(x, a, n);
}
CU
    tool new --from sizes.cu
    succeeds
    says 'n = at.ask'
    says 'a = at.ask'
    tool new --from sizes.cu -- -n 5000 --factor 1.5
    succeeds
    says 'n = 5000,   -- sizes.cu:13: n = atoi(argv[++i])'
    says 'a = 1.5,   -- sizes.cu:14'
    says 'x = "n",'
    says_nothing_of "at.ask"
}

@test "a variable of the host stays one variable in template arguments and structures" {
    cat >one.cu <<'CU'
struct shape { int rows, columns; };
template <int PER, int THREADS> __global__ void scale(float *x, shape s)
{
    __shared__ float tile[THREADS];
    int i = blockIdx.x * PER + threadIdx.x;
    tile[threadIdx.x] = 2.0f;
    if (i < s.rows * s.columns)
        x[i] = tile[threadIdx.x];
}
int main()
{
    shape s = {512, 96};
    const int rows = s.rows, columns = s.columns, threads = 128;
    float *x;
    cudaMalloc(&x, rows * columns * sizeof(float));
    for (int i = 0; i < 3; i++)
        scale<threads, threads><<<(rows * columns + threads - 1) / threads, threads>>>(x, s);
}
CU
    tool new --from one.cu --write
    succeeds
    says 'entry = "scale<${PER}, ${PER}>", args = { s = at.struct { at.int32("rows"), at.int32("columns") } }'
    says 'grid = "ceil_div(rows * columns, PER)", block = "PER"'
    tool check one.cu --budget 2
    succeeds
    says "2 agree with the baseline"
}

@test "if the host loops over sizes, new --from takes the first size and says so" {
    cat >sizes.cu <<'CU'
__global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
int main()
{
    int sizes[] = {1 << 18, 1 << 20};
    for (int n : sizes) {
        float *x;
        int threads = 256;
        cudaMalloc(&x, n * sizeof(float));
        scale<<<(n + threads - 1) / threads, threads>>>(x, 2.0f, n);
    }
}
CU
    tool new --from sizes.cu
    succeeds
    says 'n = 1 << 18,   -- sizes.cu:10: int n, one of several'
    says 'x = "n",'
    says 'BLOCK = 256'
}
