/* Measures the speed of the compile pool beside independent NVRTC processes on the same sources.
 *
 *   compile_rate [--jobs N] [--arch sm_XX] [--sources N | --dir DIR] [--rounds N]
 *
 * Each round compiles all sources twice, in alternating order: with `jobs` forked processes that
 * open NVRTC and compile every jobs-th source each, and with a fresh compile pool of `jobs`
 * workers. Both times begin before the first fork and end with the last result. Both compile to
 * cubins with the same options. NVRTC's own cache is off, because it would return the results of
 * the previous round. Then the pool runs with a cold and with a warm cache. Prints the rates and
 * their ratio, with the median over the rounds last. Exit code 1 if the median is below 0.8, or if
 * a source did not compile.
 *
 * The sources are transposes that differ in tile, padding, vector width and rows of a thread, or
 * the files of DIR (each with one kernel called `k`). */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "compile/compile.h"
#include "compile/nvrtc.h"

static const double target_ratio = 0.8;

enum { MOST_ROUNDS = 99 };

typedef struct bench {
    int jobs, rounds;
    const char *arch;
    char **sources;
    size_t source_count;
} bench;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Returns the processor time of this process and of its ended children. */
static double cpu_s(void)
{
    double total_s = 0;
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    for (int i = 0; i < 2; i++) {
        struct rusage u;
        if (getrusage(whose[i], &u) == 0)
            total_s += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    }
    return total_s;
}

static const char transpose_format[] =
    "// transpose: tile %d, pad %d, %d rows a thread, vectors of %d, variant %zu\n"
    "extern \"C\" __global__ void __launch_bounds__(%d) k(const float *__restrict__ src,\n"
    "    float *__restrict__ dst, int rows, int cols)\n"
    "{\n"
    "    const int tile_size = %d, step = %d, width = %d;\n"
    "    __shared__ float tile[tile_size][tile_size + %d];\n"
    "    int x = blockIdx.x * tile_size + threadIdx.x * width;\n"
    "    int y = blockIdx.y * tile_size + threadIdx.y;\n"
    "#pragma unroll\n"
    "    for (int j = 0; j < tile_size; j += step)\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < width; i++)\n"
    "            if (x + i < cols && y + j < rows)\n"
    "                tile[threadIdx.y + j][threadIdx.x * width + i] =\n"
    "                    src[(size_t)(y + j) * cols + x + i];\n"
    "    __syncthreads();\n"
    "    x = blockIdx.y * tile_size + threadIdx.x * width;\n"
    "    y = blockIdx.x * tile_size + threadIdx.y;\n"
    "#pragma unroll\n"
    "    for (int j = 0; j < tile_size; j += step)\n"
    "#pragma unroll\n"
    "        for (int i = 0; i < width; i++)\n"
    "            if (x + i < rows && y + j < cols)\n"
    "                dst[(size_t)(y + j) * rows + x + i] =\n"
    "                    tile[threadIdx.x * width + i][threadIdx.y + j];\n"
    "}\n";

static char *make_source(size_t i)
{
    static const int tiles[] = {16, 32, 64}, widths[] = {1, 2, 4}, rows[] = {2, 4, 8};
    int tile = tiles[i % 3], width = widths[i / 3 % 3], rows_each = rows[i / 9 % 3];
    int pad = (int)(i / 27 % 3), step = tile / rows_each;
    size_t size = sizeof transpose_format + 256;
    char *source = malloc(size);
    if (source)
        snprintf(source, size, transpose_format, tile, pad, rows_each, width, i,
                 tile / width * step, tile, step, width, pad);
    return source;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool read_sources(bench *b, const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return false;
    size_t capacity = 0;
    at_status status = AT_OK;
    for (struct dirent *e; !status && (e = readdir(d));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (!strstr(e->d_name, ".cu"))
            continue;
        if (b->source_count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            char **sources = realloc(b->sources, capacity * sizeof *sources);
            if (!sources)
                break;
            b->sources = sources;
        }
        status = file_read(path, 1 << 24, &b->sources[b->source_count], NULL, NULL);
        b->source_count += status == AT_OK;
    }
    closedir(d);
    if (b->source_count)
        qsort(b->sources, b->source_count, sizeof *b->sources, by_name);
    return !status && b->source_count > 0;
}

/* Compiles a share of the sources in one of the independent processes, without pool, messages and
 * cache. */
static int compile_share(const bench *b, size_t first)
{
    nvrtc_library n;
    at_error error = {0};
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    if (nvrtc_library_open(&n, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    char arch[64];
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", b->arch);
    const char *const options[] = {arch, "--ptxas-options=-v", "--minimal"};
    for (size_t i = first; i < b->source_count; i += (size_t)b->jobs) {
        nvrtc_output o;
        nvrtc_library_compile(&n, b->sources[i], "k.cu", "k", NULL, 0, options, 3, 0, &o);
        bool failed = o.code != NVRTC_SUCCESS;
        if (failed)
            fprintf(stderr, "%s\n", o.log ? o.log : "out of memory");
        nvrtc_output_deinit(&o);
        if (failed)
            return 1;
    }
    return 0;
}

/* Returns the seconds of the independent processes, or a negative number on failure. */
static double time_independent(const bench *b)
{
    double start_s = now_s();
    for (int p = 0; p < b->jobs; p++) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(compile_share(b, (size_t)p));
        if (pid < 0)
            return -1;
    }
    bool fine = true;
    for (int p = 0; p < b->jobs; p++) {
        int status;
        while (wait(&status) < 0 && errno == EINTR)
            ;
        fine = fine && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return fine ? now_s() - start_s : -1;
}

static double time_pool(const bench *b, const char *cache_dir, size_t *cached)
{
    double start_s = now_s();
    compile_options o = {.jobs = b->jobs, .use_cache = cache_dir != NULL, .cache_dir = cache_dir};
    compile_pool *pool;
    at_error error = {0};
    at_status status = compile_pool_new(&o, &pool, &error);
    for (size_t i = 0; i < b->source_count && !status; i++) {
        compile_request r = {
            .id = i, .source = b->sources[i], .name = "k.cu", .entry = "k", .arch = b->arch};
        status = compile_submit(pool, &r, &error);
    }
    *cached = 0;
    for (size_t i = 0; i < b->source_count && !status; i++) {
        compile_result r;
        status = compile_take(pool, -1, &r, &error);
        if (!status && r.outcome != COMPILE_OK)
            status =
                error_set(&error, AT_COMPILE, "%s: %s", compile_outcome_name(r.outcome), r.log);
        *cached += r.cached;
        compile_result_deinit(&r);
    }
    double end_s = now_s();
    if (!status && compile_warning(pool))
        fprintf(stderr, "%s\n", compile_warning(pool));
    compile_pool_free(pool);
    if (status)
        fprintf(stderr, "%s\n", error.message);
    return status ? -1 : end_s - start_s;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run_rounds(const bench *b)
{
    double ratios[MOST_ROUNDS];
    double n = (double)b->source_count;
    size_t cached;
    for (int i = 0; i < b->rounds; i++) {
        double pool_s = 0, alone_s = 0, pool_cpu_s = 0, alone_cpu_s = 0;
        for (int turn = 0; turn < 2; turn++) {
            double before_s = cpu_s();
            if (turn == i % 2) {
                alone_s = time_independent(b);
                alone_cpu_s = cpu_s() - before_s;
            } else {
                pool_s = time_pool(b, NULL, &cached);
                pool_cpu_s = cpu_s() - before_s;
            }
        }
        if (pool_s <= 0 || alone_s <= 0)
            return -1;
        ratios[i] = alone_s / pool_s;
        printf("round %d: independent %.1f/s (%.2f s, %.2f s of CPU), pool %.1f/s (%.2f s, %.2f s "
               "of CPU), ratio %.3f\n",
               i + 1, n / alone_s, alone_s, alone_cpu_s, n / pool_s, pool_s, pool_cpu_s, ratios[i]);
        fflush(stdout);
    }
    qsort(ratios, (size_t)b->rounds, sizeof ratios[0], by_value);
    return (ratios[(b->rounds - 1) / 2] + ratios[b->rounds / 2]) / 2;
}

static bool run_cache(const bench *b)
{
    char dir[] = "/tmp/autotune-bench-XXXXXX", command[64];
    if (!mkdtemp(dir))
        return false;
    size_t cached;
    double n = (double)b->source_count;
    double cold_s = time_pool(b, dir, &cached);
    double warm_s = time_pool(b, dir, &cached);
    printf("pool with a cold cache %.1f/s (%.2f s), with a warm one %.1f/s (%.3f s, %zu of %zu "
           "cached)\n",
           n / cold_s, cold_s, n / warm_s, warm_s, cached, b->source_count);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && cold_s > 0 && warm_s > 0;
}

static bool read_options(int argc, char **argv, bench *b)
{
    static const struct option known[] = {
        {"jobs", required_argument, NULL, 'j'},    {"arch", required_argument, NULL, 'a'},
        {"sources", required_argument, NULL, 's'}, {"dir", required_argument, NULL, 'd'},
        {"rounds", required_argument, NULL, 'r'},  {0},
    };
    size_t count = 0;
    const char *dir = NULL;
    for (int o; (o = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (o == 'j')
            b->jobs = atoi(optarg);
        else if (o == 'a')
            b->arch = optarg;
        else if (o == 's')
            count = (size_t)atol(optarg);
        else if (o == 'd')
            dir = optarg;
        else if (o == 'r')
            b->rounds = atoi(optarg);
        else
            return false;
    }
    if (b->jobs < 1 || b->rounds < 1 || b->rounds > MOST_ROUNDS || optind < argc)
        return false;
    if (dir)
        return read_sources(b, dir);
    b->source_count = count ? count : 24 * (size_t)b->jobs;
    b->sources = calloc(b->source_count, sizeof *b->sources);
    for (size_t i = 0; b->sources && i < b->source_count; i++)
        if (!(b->sources[i] = make_source(i)))
            return false;
    return b->sources != NULL;
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    bench b = {.jobs = cores > 0 ? (int)cores : 1, .rounds = 3, .arch = "sm_90"};
    if (!read_options(argc, argv, &b)) {
        fprintf(stderr, "usage: compile_rate [--jobs N] [--arch sm_XX] [--sources N | --dir DIR] "
                        "[--rounds N]\n");
        return 2;
    }
    printf("%zu sources for %s, %d processes\n", b.source_count, b.arch, b.jobs);
    double ratio = run_rounds(&b);
    if (ratio < 0 || !run_cache(&b))
        return 1;
    printf("ratio %.3f (target %.1f)\n", ratio, target_ratio);
    for (size_t i = 0; i < b.source_count; i++)
        free(b.sources[i]);
    free(b.sources);
    return ratio >= target_ratio ? 0 : 1;
}
