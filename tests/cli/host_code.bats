# What 'new --from' reads in the host code of a file: values that follow the program's variables, fills, questions.

load helpers

# Writes FILE.cu: a kernel that doubles n numbers, and a main() with the lines of stdin, which set in, out and launch.
program() { # program FILE
    {
        printf '%s\n' '#include <stdio.h>' '#include <stdlib.h>'
        printf '%s\n' '__global__ void twice(const float *in, float *out, int n)' '{'
        printf '%s\n' '    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 2 * in[i];' '}'
        cat
    } >"$1"
}

@test "sizes and grid are traced to variables through methods and members of structures" {
    program method.cu <<'CU'
struct image { int width, height; size_t pixels() const { return (size_t)width * height; } size_t bytes() const { return pixels() * sizeof(float); } };
static size_t count(const image &im) { return im.width * im.height; }
int main()
{
    image im, other = { 640, 480 };
    im.width = 3840, im.height = 2160;
    float *in, *out;
    cudaMalloc(&in, im.bytes());
    cudaMalloc(&out, count(other) * sizeof(float));
    twice<<<(im.pixels() + 255) / 256, 256>>>(in, out, im.pixels());
}
CU
    tool new --from method.cu
    succeeds
    says 'width = 3840'
    says 'n = "width * height"'
    says 'grid = "ceil_div(width * height, BLOCK)"'
    says 'in_ = "width * height"'
    says 'out = "width_2 * height_2"'
    says_nothing_of at.ask
}

@test "min and max of a grid are recognised in any form of the host code" {
    local bound
    for bound in 'if (grid > 1024) grid = 1024;' 'grid = grid > 1024 ? 1024 : grid;' 'if (1024 <= grid) { grid = 1024; }'; do
        program bound.cu <<CU
int main()
{
    int n = 1 << 22, block = 256;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    int grid = (n + block - 1) / block;
    $bound
    twice<<<grid, block>>>(in, out, n);
}
CU
        tool new --from bound.cu
        succeeds
        [[ "$output" == *'grid = "min(ceil_div(n, BLOCK), 1024)"'* || "$output" == *'grid = "min(1024, ceil_div(n, BLOCK))"'* ]]
    done
}

@test "numbers from files, the environment and the terminal become questions that name the function" {
    program input.cu <<'CU'
int main()
{
    int n = 16, sizes[2] = { 8, 8 };
    char line[80];
    FILE *f = fopen("sizes.txt", "r");
    fread(sizes, sizeof(int), 2, f);
    fgets(line, sizeof line, f);
    scanf("%d", &n);
    float *in, *out;
    cudaMalloc(&in, sizes[0] * sizeof(float));
    cudaMalloc(&out, atoi(line) * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(in, out, n);
}
CU
    tool new --from input.cu
    succeeds
    says 'n = at.ask "set by scanf, input.cu:14"'
    says 'at.ask "set by fread, input.cu:12"'
    says 'at.ask "set by fgets, input.cu:17"'
}

@test "options of getopt keep their defaults, and a size that the program requires to equal another is the other" {
    program options.cu <<'CU'
int main(int argc, char **argv)
{
    int n = 1 << 20, rows = atoi(argv[1]), columns = atoi(argv[2]), c;
    while ((c = getopt(argc, argv, "n:v")) != -1) {
        switch (c) {
        case 'n': n = atoi(optarg); break;
        case 'v': puts("verbose"); break;
        }
    }
    if (columns != rows) return 1;
    float *in, *out;
    cudaMalloc(&in, rows * sizeof(float));
    cudaMalloc(&out, columns * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(in, out, n);
}
CU
    tool new --from options.cu
    succeeds
    says 'n = 1 << 20,   -- options.cu:9: int n = 1 << 20, unless the command line says another'
    says 'in_ = "columns"'
    says 'out = "columns"'
}

@test "integers are filled as the host and cudaMemset fill them before the launch" {
    cat >fill.cu <<'CU'
#include <cstdlib>
#include <vector>
#define BINS 64
__global__ void count(const int *keys, const int *next, const int *weights, const int *more, const int *part, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[next[i]] + more[i] + part[i]], weights[i]);
}
int main()
{
    int n = 1 << 12, one = 1;
    std::vector<int> keys(n), more(n);
    int *next = (int *)malloc(n * sizeof(int)), *weights = new int[n];
    for (int i = 0; i < n; i++) { keys[i] = rand() % BINS; next[i] = i; weights[i] = rand() % (BINS / 4); }
    for (int i = 0; i < n; i += 7) weights[i] = 0;
    std::generate(more.begin(), more.end(), []() { return rand() & 7; });
    int *dk, *dn, *dw, *db, *dm, *dp;
    cudaMalloc(&dk, n * sizeof(int));
    cudaMalloc(&dn, n * sizeof(int));
    cudaMalloc(&dw, n * sizeof(int));
    cudaMalloc(&dm, n * sizeof(int));
    cudaMalloc(&dp, n * sizeof(int));
    cudaMalloc(&db, (BINS + 8) * sizeof(int));
    cudaMemset(dp, 0, n * sizeof(int));
    cudaMemcpy(dp, &one, sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dk, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dm, more.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dn, next, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(dw, weights, n * sizeof(int), cudaMemcpyHostToDevice);
    count<<<(n + 255) / 256, 256>>>(dk, dn, dw, dm, dp, db, n);
    cudaMemset(db, 0, (BINS + 8) * sizeof(int));
}
CU
    tool new --from fill.cu
    succeeds
    says 'keys = at.input { fill = "below", limit = "BINS" },   -- fill.cu:14: keys[i] = rand() % BINS'
    says 'next = at.input { fill = "index" }'
    says 'weights = at.input { fill = "below", limit = "BINS // 4" }'
    says 'more = at.input { fill = "below", limit = 8 }'
    says 'part = at.input { fill = at.ask "zeros, but for the part that the host copies, fill.cu:25" }'
    says_nothing_of '"zero"'
}

@test "the outermost call of a host function that calls itself gives the sizes" {
    program sorts.cu <<'CU'
static void sort(float *in, float *out, int n)
{
    if (n <= 1) return;
    int half = n / 2;
    sort(in, out, half);
    twice<<<(half + 255) / 256, 256>>>(in, out, half);
}
int main()
{
    const int total = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, total * sizeof(float));
    cudaMalloc(&out, total * sizeof(float));
    sort(in, out, total);
}
CU
    tool new --from sorts.cu
    succeeds
    says 'n = "total // 2"'
}

@test "a template argument that decides a buffer's size is a variable of the problem, in the instance, too" {
    cat >flags.cu <<'CU'
template <int BLOCK_DIM> __global__ void mark(float *x, int *flags, int n)
{
    __shared__ float s[BLOCK_DIM];
    int i = blockIdx.x * BLOCK_DIM + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) x[i] = s[BLOCK_DIM - 1 - threadIdx.x];
    if (threadIdx.x == 0) flags[blockIdx.x + 1] = 1;
}
template <int BLOCK_DIM = 128> void start(float *x, int n)
{
    int blocks = (n + BLOCK_DIM - 1) / BLOCK_DIM, *flags;
    cudaMalloc(&flags, (blocks + 1) * sizeof(int));
    mark<BLOCK_DIM><<<blocks, BLOCK_DIM>>>(x, flags, n);
}
int main()
{
    int n = 4096;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    start(x, n);
}
CU
    tool new --from flags.cu --write
    succeeds
    says 'BLOCK_DIM = 128'
    says 'space   = {}'
    says 'entry = "mark<${BLOCK_DIM}>"'
    says 'flags = "ceil_div(n + BLOCK_DIM, BLOCK_DIM)"'
    tool check flags.cu --set BLOCK_DIM=64
    succeeds
}

@test "a constant of a header is a variable even if a template of the host has a parameter of its name" {
    cat >sizes.h <<'CU'
namespace sizes {
constexpr int N = 10000;
template <int N> int twice_of() { return 2 * N; }
}
CU
    cat >header.cu <<'CU'
#include "sizes.h"
namespace sizes { __global__ void clear(float *x) { int i = blockIdx.x * 128 + threadIdx.x; if (i < N) x[i] = N; } }
int main()
{
    float *x;
    cudaMalloc(&x, sizes::N * sizeof(float));
    sizes::clear<<<(sizes::N + 127) / 128, 128>>>(x);
}
CU
    tool new --from header.cu --write
    succeeds
    says 'N = 10000'
    tool check header.cu --set N=300
    succeeds
}

@test "a bound that only the kernel reads shrinks with the sizes" {
    cat >part.cu <<'CU'
#define TOTAL (256 * 1024 * 1024)
#define PART (128 * 1024 * 1024)
__global__ void copy(const int *in, int *out, int bytes)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes / sizeof(int); i += gridDim.x * blockDim.x) out[i] = in[i];
}
int main()
{
    int *in, *out;
    cudaMalloc(&in, TOTAL);
    cudaMalloc(&out, TOTAL);
    for (int i = 0; i < TOTAL; i += PART) copy<<<64, 256>>>(in + i / 4, out + i / 4, PART);
}
CU
    tool new --from part.cu --write
    succeeds
    tool check part.cu --budget 1
    succeeds
}

@test "a kernel that launches a kernel is refused for this reason, even if the compiler stops at another name" {
    cat >nested.cu <<'CU'
__global__ void split(float *x, int n)
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, 0);
    if (n > 1) split<<<1, 64, 0, s>>>(x, n / 2);
}
int main() { float *x; cudaMalloc(&x, 256); split<<<1, 64>>>(x, 64); }
CU
    tool new --from nested.cu
    fails_with 2 "nested.cu:5: this kernel launches itself from the device, which is not supported"
    sed -i '1i template <int N> __global__ void half(float *x) { x[threadIdx.x] /= N; }' nested.cu
    sed -i 's/split<<<1, 64, 0, s/half<2> <<<1, 64, 0, s/; s/>(x, n \/ 2);/>(x);/' nested.cu
    tool new --from nested.cu --kernel split
    fails_with 2 'nested.cu:6: this kernel launches another kernel from the device, which is not supported: tune the launched kernel alone, kernel = { entry = "half" }'
    printf '%s\n' '__global__ void bad(float *x) { /* launch it as bad<<<1, 1>>>(x) */ y() = 1; }' 'int main() { bad<<<1, 1>>>(0); }' >bad.cu
    tool new --from bad.cu
    fails_with 2 'identifier "y" is undefined'
    says_nothing_of 'from the device'
}

@test "a lambda among the arguments of a template is refused for that" {
    cat >lambda.cu <<'CU'
template <class F> __global__ void each(int n, F f) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) f(i); }
int main()
{
    int n = 1 << 10, *x;
    cudaMalloc(&x, n * sizeof(int));
    auto f = [=] __device__ (int i) { x[i] = i; };
    each<<<n / 256, 256>>>(n, f);
}
CU
    tool new --from lambda.cu
    fails_with 2 "a lambda has no name"
}

@test "pointers in a structure by value are buffers, read or written as the kernel uses the members" {
    cat >soa.cu <<'CU'
#define SIZE 65536
struct cells { int *left; const float *weight; float *sum; int count; };
__global__ void add(cells c) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < c.count) c.sum[i] = c.left[i] * c.weight[i]; }
int main()
{
    cells c;
    float *weight;
    cudaMalloc(&c.left, SIZE * sizeof(int));
    cudaMalloc(&weight, SIZE * sizeof(float));
    cudaMalloc(&c.sum, SIZE * sizeof(float));
    c.weight = weight;
    c.count = SIZE;
    add<<<SIZE / 128, 128>>>(c);
}
CU
    tool new --from soa.cu --write
    succeeds
    says 'args = { c = at.struct { "left", "weight", "sum", at.int32("SIZE") } }'
    says 'left = at.input { dtype = "int32", count = "SIZE" }'
    says 'weight = at.input { dtype = "float", count = "SIZE" }'
    says 'sum = at.output { dtype = "float", count = "SIZE" }'
    tool check soa.cu --budget 1
    succeeds
}

@test "numbers of a class as template argument depend on the problem, and __launch_bounds__ limits the block" {
    cat >traits.cu <<'CU'
template <int THREADS_, int ITEMS_, typename T_> struct traits { static constexpr int threads = THREADS_, items = ITEMS_; typedef T_ T; };
template <typename K> __global__ void twice(const typename K::T *in, typename K::T *out, int n)
{
    for (int k = 0, i = blockIdx.x * K::threads * K::items + threadIdx.x; k < K::items; k++, i += K::threads) if (i < n) out[i] = 2 * in[i];
}
template <typename K> void start(const typename K::T *in, typename K::T *out, int n)
{
    twice<K><<<(n + K::threads * K::items - 1) / (K::threads * K::items), K::threads>>>(in, out, n);
}
int main()
{
    int n = 1 << 16;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    start<traits<128, 4, float>>(in, out, n);
}
CU
    tool new --from traits.cu --write
    succeeds
    says 'entry = "twice<traits<${THREADS_}, ${ITEMS_}, float>>"'
    tool check traits.cu --set THREADS_=64 --budget 1
    succeeds
    cat >bounds.cu <<'CU'
__global__ void __launch_bounds__(128, 2) clear(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 0; }
int main() { int n = 4096; float *x; cudaMalloc(&x, n * sizeof(float)); clear<<<(n + 127) / 128, 128>>>(x, n); }
CU
    tool new --from bounds.cu --write
    succeeds
    tool space bounds.cu
    says "3  32 64 128"
    says_nothing_of 256
}

@test "a block and a size are traced to variables through min and pow" {
    program powers.cu <<'CU'
int main()
{
    int n = 32, most = 256;
    int total = (int)(pow((float)n, 2.0f) / 2), block = total < most ? total : most;
    float *in, *out;
    cudaMalloc(&in, total * sizeof(float));
    cudaMalloc(&out, total * sizeof(float));
    twice<<<1, block>>>(in, out, n);
}
CU
    tool new --from powers.cu
    succeeds
    says 'in_ = "n * n // 2"'
    says 'block = "min(n * n // 2, most)"'
}

@test "a pointer that a function takes as const is read, and a function with a body shows what it writes" {
    cat >calls.cu <<'CU'
__device__ float load(const float *p, int i) { return p[i]; }
__device__ void store(float *p, int i, float v) { p[i] = v; }
__global__ void twice(float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store(out, i, 2 * load(in, i));
}
int main()
{
    int n = 4096;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    twice<<<(n + 127) / 128, 128>>>(in, out, n);
}
CU
    tool new --from calls.cu
    succeeds
    says 'outputs = { "out" }'
    says 'in_ = at.input {}'
}

@test "options that the program reads itself, members with initialisers and classes of one structure keep their numbers" {
    program options.cu <<'CU'
struct config { int rows = 8, columns = 1024; };
class solver {
public:
    solver(const config &c) : c_(c) { cudaMalloc(&in_, bytes()); cudaMalloc(&out_, bytes()); }
    void run(int n) { twice<<<(n + 255) / 256, 256>>>(in_, out_, n); }
    size_t bytes() const { return c_.rows * c_.columns * sizeof(float); }
private:
    config c_;
    float *in_, *out_;
};
int main(int argc, char **argv)
{
    int n = 1024, times = 10;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n")) n = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-t")) times = atoi(argv[++i]);
        else return 1;
    }
    config c;
    solver s(c);
    s.run(n);
}
CU
    tool new --from options.cu
    succeeds
    says 'n = 1024,'
    says 'in_ = "rows * columns"'
    says 'columns = 1024'
    says_nothing_of at.ask
}

@test "a macro in the instance is one parameter, and an argument that is computed from a macro is none" {
    cat >stencil.cu <<'CU'
#define TILE 16
#define WIDTH 5
template <int T, int R> __global__ void sum(const float *in, float *out, int n)
{
    __shared__ float s[T + 2 * R];
    int i = blockIdx.x * T + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    float v = 0;
    for (int k = 0; k < 2 * R + 1; k++) v += i < n ? in[(i + k) % n] : 0;
    if (i < n) out[i] = v + s[T - 1 - (T - 1 - threadIdx.x)];
}
int main()
{
    int n = 4096;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    sum<TILE, WIDTH / 2><<<(n + TILE - 1) / TILE, TILE>>>(in, out, n);
}
CU
    tool new --from stencil.cu --write
    succeeds
    says 'entry = "sum<${TILE}, 2>"'
    says 'block = "TILE"'
    says_nothing_of 'R ='
    says_nothing_of 'T ='
    tool check stencil.cu --budget 1
    succeeds
}

@test "a number in the instance that equals a block on which a size depends follows this block" {
    cat >reduce.cu <<'CU'
template <class T, unsigned int SIZE> __global__ void reduce(const int *places, const T *in, T *out, unsigned n)
{
    __shared__ T s[SIZE];
    unsigned i = blockIdx.x * SIZE + threadIdx.x;
    s[threadIdx.x] = i < n ? in[places[i]] : 0;
    __syncthreads();
    for (int k = SIZE / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
int main()
{
    int size = 1 << 14, threads = 128, *places, *in, *out;
    std::vector<int> host(size);
    std::iota(host.begin(), host.end(), 0);
    std::shuffle(host.begin(), host.end(), std::mt19937(1));
    cudaMalloc(&places, size * sizeof(int));
    cudaMalloc(&in, size * sizeof(int));
    cudaMalloc(&out, (size + threads - 1) / threads * sizeof(int));
    cudaMemcpy(places, host.data(), size * sizeof(int), cudaMemcpyHostToDevice);
    switch (threads) {
    case 64: reduce<int, 64><<<(size + threads - 1) / threads, threads>>>(places, in, out, size); break;
    case 128: reduce<int, 128><<<(size + threads - 1) / threads, threads>>>(places, in, out, size); break;
    }
}
CU
    tool new --from reduce.cu --write
    succeeds
    says 'entry = "reduce<int, ${threads}>"'
    says 'space   = {}'
    says 'places = at.input { fill = "permutation" }'
    tool check reduce.cu --set threads=64
    succeeds
}
