/* Compares exported kernels with the library's at_launch on a GPU: results and times.
 *
 *   exported_vs_library [ROUNDS]     (41)
 *
 * For recorded problems of five patterns it compares the launches of an exported .cu
 * (autotune_<pattern>_plan() and _run()) with those of the library (at_pick(), at_prepare() and
 * at_launch()) from the same records. Each sample begins with a cold L2; samples of the two
 * alternate. Prints medians, their ratio, and the host time of a call. Exit code 1 if outputs or
 * picks differ or anything fails; 77 without a GPU. The library reads the records that were
 * exported at build time, or those in $AUTOTUNE_RESULTS. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autotune.h"
#include "exported_kernels.h"

enum { MOST_ROUNDS = 1001, MOST_BUFFERS = 5, MOST_VARIABLES = 4, NO_GPU = 77 };

typedef struct problem {
    const char *label, *pattern;
    at_variable variables[MOST_VARIABLES];
    size_t variable_count;
    size_t
        output; /* index of the compared buffer: inputs come before it, buffers of zeros after it */
    int sums;   /* whether the compared buffer has doubles that start as zeros and get sums */
    double tolerance;
    cudaError_t (*plan)(const struct problem *p, autotune_plan *out);
    cudaError_t (*run)(const autotune_plan *plan, void *const *buffers, cudaStream_t stream);
} problem;

/* Defines `plan_NAME` and `run_NAME`, which call the exported functions of a pattern with these
 * sizes and buffers. */
#define PATTERN(name, sizes, of_buffers)                                                           \
    static cudaError_t plan_##name(const problem *p, autotune_plan *out)                           \
    {                                                                                              \
        const at_variable *v = p->variables;                                                       \
        const autotune_##name##_problem of = {EACH sizes};                                         \
        return autotune_##name##_plan(NULL, &of, NULL, out);                                       \
    }                                                                                              \
    static cudaError_t run_##name(const autotune_plan *plan, void *const *b, cudaStream_t stream)  \
    {                                                                                              \
        const autotune_##name##_buffers with = {EACH of_buffers};                                  \
        return autotune_##name##_run(plan, &with, stream);                                         \
    }
#define EACH(...) __VA_ARGS__

PATTERN(transpose, (v[0].integer, v[1].integer, AUTOTUNE_TRANSPOSE_DTYPE_FLOAT), (b[0], b[1]))
PATTERN(matmul, (v[0].integer, v[1].integer, v[2].integer, AUTOTUNE_MATMUL_DTYPE_FLOAT),
        (b[0], b[1], b[2]))
PATTERN(dot, (v[0].integer, AUTOTUNE_DOT_DTYPE_FLOAT), (b[0], b[1], b[2], b[3], b[4]))
PATTERN(conv2d, (v[0].integer, v[1].integer, v[2].integer, AUTOTUNE_CONV2D_DTYPE_FLOAT),
        (b[0], b[1], b[2]))
PATTERN(loop_order,
        (v[0].integer, v[1].integer,
         strcmp(v[2].text, "rows") == 0 ? AUTOTUNE_LOOP_ORDER_AXIS_ROWS
                                        : AUTOTUNE_LOOP_ORDER_AXIS_COLUMNS,
         AUTOTUNE_LOOP_ORDER_DTYPE_FLOAT),
        (b[0], b[1]))

typedef struct bench {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    void *flush;
    size_t flush_bytes;
    at_results *results;
    int rounds;
} bench;

/* The buffers of one contender. Both contenders share the inputs. */
typedef struct side {
    void *buffers[MOST_BUFFERS];
    float times_ms[MOST_ROUNDS];
    double host_us;
} side;

static int failed(cudaError_t status, const char *what)
{
    if (status != cudaSuccess)
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    return status != cudaSuccess;
}

static int refused(at_status status, const at_error *error)
{
    if (status != AT_OK)
        fprintf(stderr, "%s\n", error->message);
    return status != AT_OK;
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(float *times, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_size);
    return times[count / 2];
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Fills a buffer with floats from -1 to 1, which depend on the seed. */
static int fill(void *to, size_t size_bytes, uint32_t seed)
{
    size_t count = size_bytes / sizeof(float);
    float *host = malloc(size_bytes);
    int bad = !host;
    for (size_t i = 0; i < count && !bad; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (float)(int32_t)seed / 2147483648.0f;
    }
    bad = bad || failed(cudaMemcpy(to, host, size_bytes, cudaMemcpyHostToDevice), "fill");
    free(host);
    return bad;
}

static double element(const void *buffer, int doubles, size_t i)
{
    return doubles ? ((const double *)buffer)[i] : ((const float *)buffer)[i];
}

static int compare(const void *a, const void *b, size_t size_bytes, int doubles, double *worst)
{
    void *x = malloc(size_bytes), *y = malloc(size_bytes);
    double largest = 0, difference = 0;
    int bad = !x || !y || failed(cudaMemcpy(x, a, size_bytes, cudaMemcpyDeviceToHost), "copy") ||
              failed(cudaMemcpy(y, b, size_bytes, cudaMemcpyDeviceToHost), "copy");
    for (size_t i = 0; i < size_bytes / (doubles ? sizeof(double) : sizeof(float)) && !bad; i++) {
        double p = element(x, doubles, i), q = element(y, doubles, i);
        largest = fmax(largest, fabs(p));
        difference = fmax(difference, fabs(p - q));
        bad = isnan(p) || isnan(q);
    }
    *worst = largest > 0 ? difference / largest : 1;
    free(x);
    free(y);
    return bad;
}

static int launch(const bench *b, const problem *p, int exported, const autotune_plan *plan,
                  const at_kernel *kernel, side *s)
{
    at_error error = {0};
    uint64_t addresses[MOST_BUFFERS];
    if (exported)
        return failed(p->run(plan, s->buffers, b->stream), "the exported launch");
    for (int i = 0; i < MOST_BUFFERS; i++)
        addresses[i] = (uint64_t)(uintptr_t)s->buffers[i];
    return refused(at_launch(kernel, b->stream, addresses, &error), &error);
}

static int sample(const bench *b, const problem *p, int exported, const autotune_plan *plan,
                  const at_kernel *kernel, side *s, int round)
{
    if (failed(cudaMemsetAsync(b->flush, round, b->flush_bytes, b->stream), "flush") ||
        failed(cudaEventRecord(b->start, b->stream), "event"))
        return 1;
    double before = now_us();
    if (launch(b, p, exported, plan, kernel, s))
        return 1;
    s->host_us += (now_us() - before) / b->rounds;
    return failed(cudaEventRecord(b->stop, b->stream), "event") ||
           failed(cudaEventSynchronize(b->stop), "launch") ||
           failed(cudaEventElapsedTime(&s->times_ms[round], b->start, b->stop), "time");
}

static int prepare(const bench *b, const problem *p, at_choice **choice, at_kernel **kernel,
                   autotune_plan *plan)
{
    at_error error = {0};
    if (refused(
            at_pick(b->results, p->pattern, NULL, p->variables, p->variable_count, choice, &error),
            &error) ||
        refused(at_prepare(*choice, NULL, kernel, &error), &error) ||
        failed(p->plan(p, plan), "the exported plan"))
        return 1;
    printf("%-22s %s\n", p->label, at_kernel_text(*kernel));
    if (strcmp(at_rule_name(at_kernel_rule(*kernel)), autotune_rule_name(plan->rule)) != 0) {
        fprintf(stderr, "the library picked by the rule %s, the exported file by %s\n",
                at_rule_name(at_kernel_rule(*kernel)), autotune_rule_name(plan->rule));
        return 1;
    }
    return 0;
}

static int make_buffers(const problem *p, const autotune_plan *plan, side sides[2])
{
    for (size_t i = 0; i < (size_t)plan->buffer_count; i++) {
        size_t bytes = plan->buffer_bytes[i];
        for (int s = 0; s < (i < p->output ? 1 : 2); s++)
            if (failed(cudaMalloc(&sides[s].buffers[i], bytes), "memory") ||
                failed(
                    cudaMemset(sides[s].buffers[i], i == p->output && !p->sums ? 0xff : 0, bytes),
                    "memory"))
                return 1;
        if (i < p->output)
            sides[1].buffers[i] = sides[0].buffers[i];
        if (i < p->output && fill(sides[0].buffers[i], bytes, (uint32_t)i + 1))
            return 1;
    }
    return 0;
}

static int run_problem(const bench *b, const problem *p)
{
    static side sides[2];
    at_choice *choice = NULL;
    at_kernel *kernel = NULL;
    autotune_plan plan;
    double worst = 0;
    memset(sides, 0, sizeof sides);
    int bad = prepare(b, p, &choice, &kernel, &plan) || make_buffers(p, &plan, sides);
    for (int s = 0; s < 2 && !bad; s++)
        bad = launch(b, p, s, &plan, kernel, &sides[s]);
    bad = bad || failed(cudaStreamSynchronize(b->stream), "launch") ||
          compare(sides[0].buffers[p->output], sides[1].buffers[p->output],
                  plan.buffer_bytes[p->output], p->sums, &worst);
    for (int round = 0; round < b->rounds && !bad; round++)
        for (int s = 0; s < 2 && !bad; s++)
            bad = sample(b, p, s ^ (round & 1), &plan, kernel, &sides[s ^ (round & 1)], round);
    if (!bad) {
        double library = median(sides[0].times_ms, b->rounds),
               exported = median(sides[1].times_ms, b->rounds);
        printf("  at_launch %10.4f ms  exported %10.4f ms  ratio %.4f   host %.2f and %.2f us a "
               "call   outputs "
               "differ by %.1e\n",
               library, exported, exported / library, sides[0].host_us, sides[1].host_us, worst);
        bad = worst > p->tolerance;
    }
    for (size_t i = 0; i < MOST_BUFFERS; i++) {
        cudaFree(sides[0].buffers[i]);
        if (i >= p->output)
            cudaFree(sides[1].buffers[i]);
    }
    at_kernel_free(kernel);
    at_choice_free(choice);
    return bad;
}

static int open_bench(bench *b)
{
    at_error error = {0};
    int l2 = 0;
    const char *folder = getenv("AUTOTUNE_RESULTS");
    if (failed(cudaFree(NULL), "no context") ||
        failed(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "device") ||
        failed(cudaStreamCreate(&b->stream), "stream") ||
        failed(cudaEventCreate(&b->start), "event") || failed(cudaEventCreate(&b->stop), "event"))
        return 1;
    b->flush_bytes = 2 * (size_t)l2;
    return failed(cudaMalloc(&b->flush, b->flush_bytes), "memory") ||
           refused(at_open(folder ? folder : EXPORTED_RESULTS, &b->results, &error), &error);
}

/* A problem of the pattern `name`. The last arguments are the variables of the problem. */
#define PROBLEM(label, name, variable_count, output, sums, tolerance, ...)                         \
    {                                                                                              \
        label, #name, {__VA_ARGS__}, variable_count, output, sums, tolerance, plan_##name,         \
            run_##name                                                                             \
    }

int main(int argc, char **argv)
{
    const problem problems[] = {
        PROBLEM("transpose 8192", transpose, 3, 1, 0, 0, at_integer("rows", 8192),
                at_integer("cols", 8192), at_text("dtype", "float")),
        PROBLEM("transpose 16384", transpose, 3, 1, 0, 0, at_integer("rows", 16384),
                at_integer("cols", 16384), at_text("dtype", "float")),
        PROBLEM("matmul 4096", matmul, 4, 2, 0, 1e-4, at_integer("m", 4096), at_integer("n", 4096),
                at_integer("k", 4096), at_text("dtype", "float")),
        /* this problem is launched in clusters */
        PROBLEM("matmul 1024", matmul, 4, 2, 0, 1e-4, at_integer("m", 1024), at_integer("n", 1024),
                at_integer("k", 1024), at_text("dtype", "float")),
        PROBLEM("dot 67108864", dot, 2, 2, 1, 1e-6, at_integer("n", 67108864),
                at_text("dtype", "float")),
        PROBLEM("conv2d 3", conv2d, 4, 2, 0, 1e-5, at_integer("rows", 16384),
                at_integer("cols", 16384), at_integer("size", 3), at_text("dtype", "float")),
        PROBLEM("conv2d 7", conv2d, 4, 2, 0, 1e-5, at_integer("rows", 16384),
                at_integer("cols", 16384), at_integer("size", 7), at_text("dtype", "float")),
        PROBLEM("sums of rows", loop_order, 4, 1, 0, 1e-4, at_integer("rows", 16384),
                at_integer("cols", 16384), at_text("axis", "rows"), at_text("dtype", "float")),
        PROBLEM("sums of columns", loop_order, 4, 1, 0, 1e-4, at_integer("rows", 16384),
                at_integer("cols", 16384), at_text("axis", "columns"), at_text("dtype", "float")),
    };
    bench b = {.rounds = argc > 1 ? atoi(argv[1]) : 41};
    int count = 0, bad = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        puts("skipped: there is no GPU");
        return NO_GPU;
    }
    if (b.rounds < 1 || b.rounds > MOST_ROUNDS) {
        fprintf(stderr, "ROUNDS is 1 to %d\n", MOST_ROUNDS);
        return 1;
    }
    if (open_bench(&b))
        return 1;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        bad |= run_problem(&b, &problems[i]);
    at_close(b.results);
    return bad;
}
