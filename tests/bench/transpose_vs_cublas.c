/* Times the recorded transpose beside cublasSgeam and the device-to-device copy of the same bytes.
 *
 *   transpose_vs_cublas [--results DIR] [--config NAME=VALUE,...] [--samples N] ROWS COLS
 *
 * Emits and compiles the configuration that results/ holds for this GPU and problem (or the given
 * one), checks its output against cuBLAS, and times the three in turn: each sample starts with a
 * cold L2 and on a busy stream, and the order within a round is random. Prints medians with their
 * 95 % intervals and the ratios. Exit code 1 if the outputs differ or anything fails. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/rng.h"
#include "base/stats.h"
#include "compile/compile.h"
#include "cuda/driver.h"
#include "record/record.h"
#include "script/emit.h"
#include "script/script.h"

enum { HELPER_THREADS = 256, MOST_SAMPLES = 10001, TEXT_BYTES = 1024, RESULT_BYTES = 64 };

/* The benchmark's own helper kernels, independent of the tool's. */
static const char helper_source[] =
    "typedef unsigned long long u64;\n"
    "#define EACH(i, count) for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < count; "
    "\\\n"
    "                            i += gridDim.x * (u64)blockDim.x)\n"
    "extern \"C\" __global__ void fill(float *data, u64 count)\n"
    "{ EACH(i, count) data[i] = (unsigned)(i * 2654435761u) * 0x1p-32f; }\n"
    "extern \"C\" __global__ void flush_write(uint4 *data, u64 count)\n"
    "{ EACH(i, count) data[i] = make_uint4(i, 1, 2, 3); }\n"
    "extern \"C\" __global__ void flush_read(const uint4 *data, u64 count, u64 *sink)\n"
    "{ unsigned sum = 0; EACH(i, count) sum ^= data[i].x ^ data[i].y;\n"
    "  if (sum == 0xdeadbeef) *sink = sum; }\n"
    "extern \"C\" __global__ void compare(const unsigned *a, const unsigned *b, u64 count,\n"
    "                                   u64 *wrong)\n"
    "{ EACH(i, count) if (a[i] != b[i]) atomicAdd(wrong, 1); }\n";

typedef enum contender { OURS, CUBLAS, COPY, CONTENDERS } contender;

static const char *const contender_names[CONTENDERS] = {"autotune", "cublasSgeam", "copy"};

typedef struct bench_request {
    const char *results_dir;
    const char *configuration; /* configuration to time; NULL for the recorded one */
    size_t samples;
    const char *rows, *cols;
} bench_request;

typedef struct cublas {
    void *library;
    cublasHandle_t handle;
    __typeof__(cublasCreate_v2) *create;
    __typeof__(cublasDestroy_v2) *destroy;
    __typeof__(cublasSetStream_v2) *set_stream;
    __typeof__(cublasSgeam) *sgeam;
} cublas;

typedef struct bench {
    cuda_driver cuda;
    CUdevice device;
    CUcontext context;
    CUstream stream;
    CUevent start, stop;
    char gpu[256], arch[16];
    int multiprocessors;
    CUmodule helpers, variant;
    CUfunction fill, flush_write, flush_read, compare, transpose;
    launch_plan launch;
    uint64_t rows, cols, size_bytes, flush_bytes;
    CUdeviceptr src, dst, expected, flush_to, flush_from, results;
    cublas blas;
} bench;

static at_status check(bench *b, CUresult result, const char *what, at_error *error)
{
    return cuda_check(&b->cuda, result, AT_DEVICE, what, error);
}

static at_status open_gpu(bench *b, at_error *error)
{
    at_status status = cuda_driver_open(&b->cuda, error);
    if (status)
        return status;
    const cuda_driver *cuda = &b->cuda;
    int major = 0, minor = 0, l2_bytes = 0;
    if ((status = check(b, cuda->cuDeviceGet(&b->device, 0), "cannot find a GPU", error)) ||
        (status = check(b, cuda->cuDevicePrimaryCtxRetain(&b->context, b->device),
                        "cannot make a context", error)) ||
        (status = check(b, cuda->cuCtxSetCurrent(b->context), "cannot use the context", error)) ||
        (status = check(b, cuda->cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING),
                        "cannot make a stream", error)) ||
        (status = check(b, cuda->cuEventCreate(&b->start, CU_EVENT_DEFAULT), "cannot make an event",
                        error)) ||
        (status = check(b, cuda->cuEventCreate(&b->stop, CU_EVENT_DEFAULT), "cannot make an event",
                        error)))
        return status;
    cuda->cuDeviceGetName(b->gpu, sizeof b->gpu, b->device);
    cuda->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, b->device);
    cuda->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, b->device);
    cuda->cuDeviceGetAttribute(&b->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                               b->device);
    cuda->cuDeviceGetAttribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, b->device);
    snprintf(b->arch, sizeof b->arch, "sm_%d%d", major, minor);
    b->flush_bytes = 2 * (uint64_t)l2_bytes / 16 * 16;
    return AT_OK;
}

static at_status open_cublas(bench *b, at_error *error)
{
    static const char *const names[] = {"libcublas.so.13",
                                        "libcublas.so.12",
                                        "libcublas.so",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so.12",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    cublas *c = &b->blas;
    const char *given = getenv("AUTOTUNE_LIBCUBLAS");
    if (given)
        c->library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof names / sizeof *names && !given && !c->library; i++)
        c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->library)
        return error_set(error, AT_NO_TOOLCHAIN,
                         "cuBLAS was not found (libcublas.so.13 or .12): put the CUDA Toolkit's "
                         "lib64 folder into LD_LIBRARY_PATH");
    /* POSIX lets a data pointer carry a function's address; C has no cast for it. */
    *(void **)&c->create = dlsym(c->library, "cublasCreate_v2");
    *(void **)&c->destroy = dlsym(c->library, "cublasDestroy_v2");
    *(void **)&c->set_stream = dlsym(c->library, "cublasSetStream_v2");
    *(void **)&c->sgeam = dlsym(c->library, "cublasSgeam");
    if (!c->create || !c->destroy || !c->set_stream || !c->sgeam)
        return error_set(error, AT_NO_TOOLCHAIN, "cuBLAS lacks a function: %s", dlerror());
    if (c->create(&c->handle) != CUBLAS_STATUS_SUCCESS ||
        c->set_stream(c->handle, b->stream) != CUBLAS_STATUS_SUCCESS)
        return error_set(error, AT_DEVICE, "cuBLAS does not start on this GPU");
    return AT_OK;
}

static bool is_problem(const record_entry *entry, const bench_request *r)
{
    const value *rows = record_get(&entry->problem, "rows");
    const value *cols = record_get(&entry->problem, "cols");
    const value *type = record_get(&entry->problem, "dtype");
    return rows && cols && type && value_equal(*rows, value_parse(r->rows)) &&
           value_equal(*cols, value_parse(r->cols)) && type->kind == VALUE_STRING &&
           strcmp(type->string, "float") == 0 && !entry->warm_cache && !entry->energy;
}

static void format_configuration(const record_values *values, char text[TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < values->count && used < TEXT_BYTES; i++) {
        char shown[RECORD_TEXT_BYTES];
        value_format(values->pairs[i].value, shown, sizeof shown);
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s=%s", i ? "," : "",
                                 values->pairs[i].name, shown);
    }
}

static at_status find_configuration(const bench *b, const bench_request *r, char text[TEXT_BYTES],
                                    at_error *error)
{
    if (r->configuration) {
        snprintf(text, TEXT_BYTES, "%s", r->configuration);
        return AT_OK;
    }
    record_set set;
    at_status status = record_load_all(r->results_dir, "transpose", &set, error);
    if (status)
        return status;
    status = error_set(error, AT_NOT_FOUND,
                       "%s holds no transpose of %s x %s floats on %s: run autotune transpose "
                       "--set rows=%s --set cols=%s, or give --config",
                       r->results_dir, r->rows, r->cols, b->gpu, r->rows, r->cols);
    for (size_t i = 0; i < set.count && status; i++)
        for (size_t j = 0; j < set.records[i].entry_count && status; j++)
            if (strcmp(set.records[i].gpu, b->gpu) == 0 &&
                is_problem(&set.records[i].entries[j], r)) {
                format_configuration(&set.records[i].entries[j].configuration, text);
                status = AT_OK;
            }
    record_set_deinit(&set);
    if (!status)
        error_clear(error);
    return status;
}

static at_status load_source(bench *b, compile_pool *pool, const char *name, const char *entry,
                             const emitted *source, CUmodule *module, at_error *error)
{
    const compile_request request = {.source = source->source,
                                     .name = name,
                                     .entry = entry,
                                     .arch = b->arch,
                                     .options = source->options,
                                     .option_count = source->option_count,
                                     .headers = source->includes.headers,
                                     .header_count = source->includes.count};
    compile_result result = {0};
    at_status status = compile_submit(pool, &request, error);
    if (!status)
        status = compile_take(pool, 60 * 1000, &result, error);
    if (status)
        return status;
    if (result.outcome != COMPILE_OK)
        status = error_set(error, AT_COMPILE, "%s: %s", name, result.log);
    else
        status = check(b, b->cuda.cuModuleLoadData(module, result.cubin), name, error);
    compile_result_deinit(&result);
    return status;
}

static at_status load_helpers(bench *b, compile_pool *pool, at_error *error)
{
    emitted helpers = {.source = strdup(helper_source)};
    at_status status =
        helpers.source ? load_source(b, pool, "helpers.cu", "fill", &helpers, &b->helpers, error)
                       : error_set(error, AT_NO_MEMORY, "out of memory");
    const struct {
        CUfunction *function;
        const char *name;
    } functions[] = {{&b->fill, "fill"},
                     {&b->flush_write, "flush_write"},
                     {&b->flush_read, "flush_read"},
                     {&b->compare, "compare"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions && !status; i++)
        status = check(
            b, b->cuda.cuModuleGetFunction(functions[i].function, b->helpers, functions[i].name),
            functions[i].name, error);
    free(helpers.source);
    return status;
}

/* Emits, compiles and loads the configuration to time. Fills b->launch. */
static at_status load_variant(bench *b, compile_pool *pool, const paths *files,
                              const bench_request *r, const char *configuration, at_error *error)
{
    const script_setting settings[] = {{"rows", r->rows}, {"cols", r->cols}, {"dtype", "float"}};
    script_options options = {.lua_dir = files->lua_dir,
                              .template_dir = files->template_dir,
                              .settings = settings,
                              .setting_count = 3};
    char path[PATHS_BYTES];
    uint16_t indices[RECORD_MAX_VALUES];
    script *s = NULL;
    emitted source = {0};
    at_status status;
    if ((status = arch_find(b->arch, &options.device, error)) ||
        (status = paths_find_script(files, "transpose", path, sizeof path, error)) ||
        (status = script_load(path, &options, &s, error)) ||
        (status = script_parse_configuration(s, configuration, indices, error)) ||
        (status = script_launch_plan(s, PROBLEM_TUNED, indices, &b->launch, error)) ||
        (status = emit_variant(s, PROBLEM_TUNED, indices, false, &source, error)) ||
        (status = load_source(b, pool, "transpose.cu", plan_entry(&b->launch, 0), &source,
                              &b->variant, error)) ||
        (status = check(
             b, b->cuda.cuModuleGetFunction(&b->transpose, b->variant, plan_entry(&b->launch, 0)),
             plan_entry(&b->launch, 0), error)))
        goto cleanup;
    status = check(b,
                   b->cuda.cuFuncSetAttribute(b->transpose,
                                              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              (int)b->launch.launches[0].dynamic_shared_bytes),
                   "cannot use as much shared memory", error);
cleanup:
    emitted_deinit(&source);
    script_free(s);
    return status;
}

static at_status launch_helper(bench *b, CUfunction function, void **arguments, at_error *error)
{
    unsigned int blocks = 8 * (unsigned int)b->multiprocessors;
    return check(b,
                 b->cuda.cuLaunchKernel(function, blocks, 1, 1, HELPER_THREADS, 1, 1, 0, b->stream,
                                        arguments, NULL),
                 "cannot launch a helper kernel", error);
}

static at_status write_flush_buffer(bench *b, CUdeviceptr data, at_error *error)
{
    uint64_t count = b->flush_bytes / 16;
    void *arguments[] = {&data, &count};
    return launch_helper(b, b->flush_write, arguments, error);
}

/* Fills the L2 with clean lines of other data. */
static at_status flush(bench *b, at_error *error)
{
    at_status status = write_flush_buffer(b, b->flush_to, error);
    uint64_t count = b->flush_bytes / 16;
    void *arguments[] = {&b->flush_from, &count, &b->results};
    return status ? status : launch_helper(b, b->flush_read, arguments, error);
}

static at_status wait(bench *b, at_error *error)
{
    return check(b, b->cuda.cuStreamSynchronize(b->stream), "the GPU reports a fault", error);
}

static at_status allocate(bench *b, at_error *error)
{
    const struct {
        CUdeviceptr *memory;
        uint64_t size_bytes;
    } buffers[] = {{&b->src, b->size_bytes},         {&b->dst, b->size_bytes},
                   {&b->expected, b->size_bytes},    {&b->flush_to, b->flush_bytes},
                   {&b->flush_from, b->flush_bytes}, {&b->results, RESULT_BYTES}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        at_status status = check(b, b->cuda.cuMemAlloc(buffers[i].memory, buffers[i].size_bytes),
                                 "cannot allocate the matrices", error);
        if (status)
            return status;
    }
    uint64_t count = b->rows * b->cols;
    void *arguments[] = {&b->src, &count};
    at_status status = launch_helper(b, b->fill, arguments, error);
    if (!status)
        status = write_flush_buffer(b, b->flush_from, error);
    return status ? status : wait(b, error);
}

static at_status run_ours(bench *b, CUdeviceptr dst, at_error *error)
{
    void *arguments[] = {&b->src, &dst};
    const kernel_launch *l = &b->launch.launches[0];
    return check(b,
                 b->cuda.cuLaunchKernel(b->transpose, l->grid[0], l->grid[1], l->grid[2],
                                        l->block[0], l->block[1], l->block[2],
                                        l->dynamic_shared_bytes, b->stream, arguments, NULL),
                 "cannot launch the transpose", error);
}

/* Row-major src is column-major with its sides exchanged. The second operand has the factor 0. */
static at_status run_cublas(bench *b, CUdeviceptr dst, at_error *error)
{
    const float one = 1, zero = 0;
    float *to = (float *)(uintptr_t)dst;
    cublasStatus_t result = b->blas.sgeam(b->blas.handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)b->rows,
                                          (int)b->cols, &one, (const float *)(uintptr_t)b->src,
                                          (int)b->cols, &zero, to, (int)b->rows, to, (int)b->rows);
    return result == CUBLAS_STATUS_SUCCESS
               ? AT_OK
               : error_set(error, AT_DEVICE, "cublasSgeam failed with status %d", (int)result);
}

static at_status run_copy(bench *b, CUdeviceptr dst, at_error *error)
{
    return check(b, b->cuda.cuMemcpyDtoDAsync(dst, b->src, b->size_bytes, b->stream), "cannot copy",
                 error);
}

typedef at_status (*run_function)(bench *b, CUdeviceptr dst, at_error *error);

static const run_function run_functions[CONTENDERS] = {run_ours, run_cublas, run_copy};

static at_status compare(bench *b, at_error *error)
{
    uint64_t wrong[RESULT_BYTES / sizeof(uint64_t)];
    uint64_t count = b->rows * b->cols;
    void *arguments[] = {&b->dst, &b->expected, &count, &b->results};
    at_status status;
    if ((status = run_cublas(b, b->expected, error)) || (status = run_ours(b, b->dst, error)) ||
        (status = check(b, b->cuda.cuMemsetD8Async(b->results, 0, RESULT_BYTES, b->stream),
                        "cannot clear", error)) ||
        (status = launch_helper(b, b->compare, arguments, error)) ||
        (status = check(b, b->cuda.cuMemcpyDtoHAsync(wrong, b->results, RESULT_BYTES, b->stream),
                        "cannot read back", error)) ||
        (status = wait(b, error)))
        return status;
    return wrong[0] == 0 ? AT_OK
                         : error_set(error, AT_DEVICE, "%llu elements differ from cuBLAS's",
                                     (unsigned long long)wrong[0]);
}

/* The flush takes some 100 us, so events and work are queued before it ends. */
static at_status sample(bench *b, contender c, int64_t *time_ns, at_error *error)
{
    float time_ms = 0;
    at_status status;
    if ((status = flush(b, error)) ||
        (status = check(b, b->cuda.cuEventRecord(b->start, b->stream), "no event", error)) ||
        (status = run_functions[c](b, b->dst, error)) ||
        (status = check(b, b->cuda.cuEventRecord(b->stop, b->stream), "no event", error)) ||
        (status = wait(b, error)) ||
        (status =
             check(b, b->cuda.cuEventElapsedTime(&time_ms, b->start, b->stop), "no time", error)))
        return status;
    *time_ns = llround((double)time_ms * 1e6);
    return AT_OK;
}

static at_status measure(bench *b, size_t rounds, int64_t *times_ns[CONTENDERS], at_error *error)
{
    rng random = rng_seeded(1);
    /* Clocks ramp for about 300 ms. */
    for (uint64_t moved = 0; moved < UINT64_C(1500) << 30; moved += 2 * b->size_bytes) {
        at_status status = run_copy(b, b->dst, error);
        if (status || (status = wait(b, error)))
            return status;
    }
    for (size_t i = 0; i < rounds; i++) {
        uint64_t order[CONTENDERS] = {OURS, CUBLAS, COPY};
        rng_shuffle(&random, order, CONTENDERS);
        for (size_t j = 0; j < CONTENDERS; j++) {
            at_status status = sample(b, (contender)order[j], &times_ns[order[j]][i], error);
            if (status)
                return status;
        }
    }
    return AT_OK;
}

static void print_results(const bench *b, const char *configuration, size_t rounds,
                          int64_t *times_ns[CONTENDERS])
{
    double median_ns[CONTENDERS];
    printf("%s, %llu x %llu floats, cold L2, %zu samples each in random order\n%s\n\n", b->gpu,
           (unsigned long long)b->rows, (unsigned long long)b->cols, rounds, configuration);
    printf("%-12s %12s %24s %10s\n", "", "median (us)", "95 % interval (us)", "GB/s");
    for (size_t c = 0; c < CONTENDERS; c++) {
        stats_summary s = stats_summarise(times_ns[c], rounds);
        median_ns[c] = (double)s.median_ns;
        printf("%-12s %12.2f %11.2f .. %9.2f %10.1f\n", contender_names[c], median_ns[c] / 1e3,
               (double)s.low_ns / 1e3, (double)s.high_ns / 1e3,
               2 * (double)b->size_bytes / median_ns[c]);
    }
    printf("\nautotune / cublasSgeam: %.4f\nautotune / copy:        %.4f\n",
           median_ns[CUBLAS] / median_ns[OURS], median_ns[COPY] / median_ns[OURS]);
}

static at_status read_request(int count, char **arguments, bench_request *r, at_error *error)
{
    static const char usage[] = "usage: transpose_vs_cublas [--results DIR] [--config "
                                "NAME=VALUE,...] [--samples N] ROWS COLS";
    *r = (bench_request){.results_dir = "results", .samples = 41};
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(arguments[i], "--results") == 0 && next)
            r->results_dir = arguments[++i];
        else if (strcmp(arguments[i], "--config") == 0 && next)
            r->configuration = arguments[++i];
        else if (strcmp(arguments[i], "--samples") == 0 && next)
            r->samples = strtoul(arguments[++i], NULL, 10);
        else if (arguments[i][0] == '-' || r->cols)
            return error_set(error, AT_USAGE, "%s", usage);
        else
            *(r->rows ? &r->cols : &r->rows) = arguments[i];
    }
    if (!r->cols || strtoul(r->rows, NULL, 10) == 0 || strtoul(r->cols, NULL, 10) == 0 ||
        r->samples < 6 || r->samples > MOST_SAMPLES)
        return error_set(error, AT_USAGE, "%s", usage);
    return AT_OK;
}

static at_status prepare(bench *b, const bench_request *r, char configuration[TEXT_BYTES],
                         at_error *error)
{
    paths files;
    compile_pool *pool = NULL;
    const compile_options options = {.jobs = 1};
    b->rows = strtoul(r->rows, NULL, 10);
    b->cols = strtoul(r->cols, NULL, 10);
    b->size_bytes = b->rows * b->cols * sizeof(float);
    at_status status;
    /* The workers are forked before the driver starts its threads. */
    if ((status = paths_find(&files, error)) ||
        (status = compile_pool_new(&options, &pool, error)) || (status = open_gpu(b, error)) ||
        (status = open_cublas(b, error)) ||
        (status = find_configuration(b, r, configuration, error)) ||
        (status = load_helpers(b, pool, error)) ||
        (status = load_variant(b, pool, &files, r, configuration, error)) ||
        (status = allocate(b, error)))
        goto cleanup;
    status = compare(b, error);
cleanup:
    compile_pool_free(pool);
    return status;
}

/* The context's release frees memory, modules and events. */
static void close_bench(bench *b)
{
    if (b->blas.handle)
        b->blas.destroy(b->blas.handle);
    if (b->context)
        b->cuda.cuDevicePrimaryCtxRelease(b->device);
    if (b->blas.library)
        dlclose(b->blas.library);
    cuda_driver_close(&b->cuda);
}

int main(int count, char **arguments)
{
    at_error error = {0};
    bench_request r;
    bench b = {0};
    char configuration[TEXT_BYTES];
    int64_t *times_ns[CONTENDERS] = {0};
    at_status status = read_request(count, arguments, &r, &error);
    if (!status)
        status = prepare(&b, &r, configuration, &error);
    for (size_t c = 0; c < CONTENDERS && !status; c++) {
        times_ns[c] = calloc(r.samples, sizeof *times_ns[c]);
        if (!times_ns[c])
            status = error_set(&error, AT_NO_MEMORY, "no memory for the samples");
    }
    if (!status)
        status = measure(&b, r.samples, times_ns, &error);
    if (!status)
        print_results(&b, configuration, r.samples, times_ns);
    else
        fprintf(stderr, "transpose_vs_cublas: %s\n", error.message);
    for (size_t c = 0; c < CONTENDERS; c++)
        free(times_ns[c]);
    close_bench(&b);
    return status ? 1 : 0;
}
