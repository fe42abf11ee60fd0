#include "gpu_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"

enum { EVENT_LIMIT_MS = 120000, BLOCKS_PER_SM = 16, THREADS = 256 };

const char *gpu_source(const char *below)
{
    enum { KEPT = 8 };
    static char paths[KEPT][4096];
    static int next;
    const char *given = getenv("AUTOTUNE_GPU_SOURCES");
    char *path = paths[next++ % KEPT];
    snprintf(path, sizeof paths[0], "%s/%s", given && *given ? given : GPU_SOURCES, below);
    return path;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    enum { MOST = 1 << 20 };
    char *text = malloc(MOST);
    size_t size = text ? fread(text, 1, MOST - 1, f) : 0;
    fclose(f);
    if (text)
        text[size] = '\0';
    return text;
}

static at_status compile(compile_pool *pool, const gpu *g, const char *path, const char *entry,
                         void **image, size_t *image_bytes, at_error *error)
{
    char *source = read_text(path);
    if (!source)
        return error_set(error, AT_IO, "cannot read %s", path);
    const char *const options[] = {"--minimal"};
    const compile_request request = {.source = source,
                                     .name = path,
                                     .entry = entry,
                                     .arch = g->properties.arch,
                                     .options = options,
                                     .option_count = 1};
    compile_result result;
    at_status status = compile_submit(pool, &request, error);
    if (!status)
        status = compile_take(pool, EVENT_LIMIT_MS, &result, error);
    free(source);
    if (status)
        return status;
    if (result.outcome != COMPILE_OK) {
        status = error_set(error, AT_COMPILE, "%s: %s", path, result.log ? result.log : "");
    } else {
        *image = result.cubin;
        *image_bytes = result.cubin_bytes;
        result.cubin = NULL;
    }
    compile_result_deinit(&result);
    return status;
}

at_status gpu_find(gpu *out, at_error *error)
{
    *out = (gpu){0};
    size_t count;
    at_status status = device_worker_list("cuda", &out->properties, 1, &count, error);
    if (status)
        return status;
    const compile_options options = {.jobs = 1};
    compile_pool *pool;
    status = compile_pool_new(&options, &pool, error);
    if (status)
        return status;
    status = compile(pool, out, gpu_source("templates/device_support.cu"), "at_fill", &out->support,
                     &out->support_bytes, error);
    if (!status)
        status = compile(pool, out, gpu_source("tests/gpu/kernels.cu"), "copy", &out->kernels,
                         &out->kernels_bytes, error);
    compile_pool_free(pool);
    return status;
}

void gpu_deinit(gpu *g)
{
    free(g->support);
    free(g->kernels);
    *g = (gpu){0};
}

static launch_plan plan_launch(const gpu_bench *b, const char *entry, uint64_t items, uint32_t grid)
{
    uint32_t blocks = (uint32_t)b->gpu->properties.limits.sm_count * BLOCKS_PER_SM;
    launch_plan p = {.launch_count = 1,
                     .launches = {{.grid = {grid ? grid : blocks, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .argument_count = 3}},
                     .argument_count = 3};
    assert_true(plan_set_entry(&p, 0, entry));
    p.arguments[0] = (argument_plan){.is_buffer = true, .buffer = 0, .size_bytes = 8};
    p.arguments[1] = (argument_plan){.is_buffer = true, .buffer = 1, .size_bytes = 8};
    p.arguments[2] = (argument_plan){.size_bytes = 8, .bits = items};
    return p;
}

static device_problem plan_problem(const gpu_bench *b, const gpu_problem *problem, uint64_t count,
                                   uint64_t items)
{
    device_problem p = {
        .reference = {.bytes = b->gpu->kernels, .size_bytes = b->gpu->kernels_bytes},
        .reference_launch = plan_launch(b, problem->reference, items, 0),
    };
    p.plan = (problem_plan){.buffer_count = 2,
                            .traffic_bytes = 2 * count * dtype_get(problem->type)->size_bytes,
                            .seed = 20};
    static const char *const names[] = {"src", "dst"};
    for (int i = 0; i < 2; i++) {
        p.plan.buffers[i] = (buffer_plan){.type = problem->type, .count = count};
        snprintf(p.plan.buffers[i].name, PLAN_NAME_BYTES, "%s", names[i]);
    }
    if (problem->dst_count) {
        p.plan.buffers[1].count = problem->dst_count;
        p.plan.traffic_bytes = (count + problem->dst_count) * dtype_get(problem->type)->size_bytes;
    }
    p.plan.buffers[0].role = BUFFER_INPUT;
    p.plan.buffers[1].role = problem->role ? problem->role : BUFFER_OUTPUT;
    p.plan.buffers[1].tolerance = tolerance_of(problem->tolerance);
    p.plan.buffers[1].repeats = true;
    return p;
}

static const device_event *next(gpu_bench *b, device_event_kind wanted)
{
    device_event_deinit(&b->event);
    assert_ok(device_worker_take(b->worker, EVENT_LIMIT_MS, &b->event, &b->error), b->error);
    if (b->event.kind != wanted)
        fail_msg("event %d instead of %d: %s", (int)b->event.kind, (int)wanted, b->event.message);
    return &b->event;
}

void gpu_begin(gpu_bench *b, const gpu *g, const gpu_problem *problem, device_cache cache)
{
    *b = (gpu_bench){.gpu = g, .problem_count = problem->ragged ? 2 : 1};
    const device_worker_options options = {.spec = "cuda:0", .cache = cache};
    assert_ok(device_worker_start(&options, &b->worker, &b->error), b->error);
    b->problems[0] = plan_problem(b, problem, problem->count, problem->items);
    if (problem->ragged) {
        b->problems[1] = plan_problem(b, problem, problem->ragged, problem->ragged_items);
        snprintf(b->problems[1].label, sizeof b->problems[1].label, "the ragged problem");
    }
    const device_image support[DEVICE_SUPPORT_PARTS] = {
        {.bytes = g->support, .size_bytes = g->support_bytes}};
    assert_ok(device_worker_setup(b->worker, support, b->problems, b->problem_count, &b->error),
              b->error);
    next(b, DEVICE_OPENED);
    next(b, DEVICE_READY);
    b->ready = b->event;
    b->event = (device_event){0};
}

void gpu_end(gpu_bench *b)
{
    device_event_deinit(&b->event);
    device_event_deinit(&b->ready);
    device_worker_free(b->worker);
}

device_variant gpu_variant(const gpu_bench *b, const char *entry, uint32_t grid)
{
    device_variant v = {.present = {true, b->problem_count > 1}};
    v.images[0] = b->problems[0].reference;
    for (size_t i = 0; i < b->problem_count; i++)
        v.launches[i] =
            plan_launch(b, entry, b->problems[i].reference_launch.arguments[2].bits, grid);
    return v;
}

const device_event *gpu_try(gpu_bench *b, const device_variant *v, size_t samples)
{
    assert_ok(device_worker_try(b->worker, 1, v, samples, &b->error), b->error);
    return next(b, DEVICE_TRIED);
}

const device_event *gpu_try_entry(gpu_bench *b, const char *entry, size_t samples)
{
    const device_variant v = gpu_variant(b, entry, 0);
    return gpu_try(b, &v, samples);
}

void gpu_hold(gpu_bench *b, uint64_t id, const char *entry, uint32_t grid)
{
    const device_variant v = gpu_variant(b, entry, grid);
    assert_ok(device_worker_hold(b->worker, id, &v, &b->error), b->error);
    gpu_expect(next(b, DEVICE_HELD), OUTCOME_OK, "");
}

const device_event *gpu_block(gpu_bench *b, const uint64_t *ids, size_t count)
{
    assert_ok(device_worker_block(b->worker, ids, count, true, &b->error), b->error);
    return next(b, DEVICE_BLOCK);
}

void gpu_expect(const device_event *e, outcome wanted, const char *words)
{
    if (e->outcome != wanted || !strstr(e->message, words))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", outcome_name(e->outcome), e->message,
                 outcome_name(wanted), words);
}

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int64_t gpu_median(const device_event *e)
{
    int64_t sorted[DEVICE_MAX_SAMPLES];
    size_t count = e->sample_count < DEVICE_MAX_SAMPLES ? e->sample_count : DEVICE_MAX_SAMPLES;
    if (count == 0)
        return 0;
    memcpy(sorted, e->samples_ns, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_times);
    return sorted[count / 2];
}

static gpu found;

static int give_gpu(void **state)
{
    *state = &found;
    return 0;
}

int gpu_run_tests(const struct CMUnitTest *tests, size_t count)
{
    at_error error = {0};
    at_status status = gpu_find(&found, &error);
    if (status == AT_NO_DEVICE || status == AT_NO_TOOLCHAIN) {
        printf("skipped: %s\n", error.message);
        return GPU_SKIPPED;
    }
    if (status) {
        printf("%s\n", error.message);
        return 1;
    }
    printf("on %s, %s, driver %s\n", found.properties.limits.name, found.properties.arch,
           found.properties.driver);
    int failed = _cmocka_run_group_tests("gpu", tests, count, give_gpu, NULL);
    gpu_deinit(&found);
    return failed;
}
