/* Tests kernels that run before a sample, and their buffers, on a fake device that logs the
 * calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/meter.h"
#include "check.h"

struct device_buffer {
    char name[PLAN_NAME_BYTES];
    uint64_t size_bytes;
    char from[PLAN_NAME_BYTES + 32]; /* source of the contents */
};

struct device_kernel {
    char name[16];
};

struct device {
    char done[1024];
    at_status launch_status;
    int buffers, kernels; /* number of buffers and of kernels that exist */
};

static void note(device *d, const char *what)
{
    strncat(d->done, what, sizeof d->done - strlen(d->done) - 1);
    strncat(d->done, " ", sizeof d->done - strlen(d->done) - 1);
}

static at_status buffer_new(device *d, const char *name, uint64_t size_bytes, device_buffer **out,
                            at_error *error)
{
    (void)error;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    (*out)->size_bytes = size_bytes;
    d->buffers++;
    return AT_OK;
}

static void buffer_free(device *d, device_buffer *b)
{
    d->buffers--;
    free(b);
}

static at_status fill(device *d, device_buffer *b, const buffer_plan *plan, uint64_t seed,
                      at_error *error)
{
    (void)d;
    (void)error;
    snprintf(b->from, sizeof b->from, "%s of seed %llu", plan->name, (unsigned long long)seed);
    return AT_OK;
}

static at_status copy(device *d, device_buffer *to, const device_buffer *from, at_error *error)
{
    (void)d;
    (void)error;
    memcpy(to->from, from->from, sizeof to->from);
    return AT_OK;
}

static at_status kernel_new(device *d, const device_image *image, const launch_plan *plan,
                            device_kernel **out, at_error *error)
{
    (void)plan;
    (void)error;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->name, sizeof(*out)->name, "%s", (const char *)image->bytes);
    d->kernels++;
    return AT_OK;
}

static void kernel_free(device *d, device_kernel *k)
{
    d->kernels--;
    free(k);
}

/* Launches a kernel, which writes its second buffer. */
static at_status launch(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, at_error *error)
{
    (void)plan;
    snprintf(buffers[1]->from, sizeof buffers[1]->from, "by %s", k->name);
    note(d, k->name);
    return d->launch_status ? error_set(error, d->launch_status, "it faulted") : AT_OK;
}

static at_status sample(device *d, device_kernel *k, const launch_plan *plan,
                        device_buffer *const *buffers, device_cache cache,
                        const device_before *before, size_t before_count, int64_t *time_ns,
                        at_error *error)
{
    (void)cache;
    note(d, "flush");
    for (size_t i = 0; i < before_count; i++)
        launch(d, before[i].kernel, before[i].plan, before[i].buffers, error);
    note(d, "start");
    note(d, buffers[0]->from);
    *time_ns = 1;
    return launch(d, k, plan, buffers, error);
}

static at_status floor_of(device *d, int64_t *floor_ns, int64_t *tick_ns, at_error *error)
{
    (void)d;
    (void)error;
    *floor_ns = *tick_ns = 1;
    return AT_OK;
}

static const device_properties *properties(const device *d)
{
    static const device_properties some = {.kind = "test"};
    (void)d;
    return &some;
}

static const device_api api = {.kind = "test",
                               .buffer_new = buffer_new,
                               .buffer_free = buffer_free,
                               .fill = fill,
                               .copy = copy,
                               .kernel_new = kernel_new,
                               .kernel_free = kernel_free,
                               .launch = launch,
                               .sample = sample,
                               .floor = floor_of,
                               .properties = properties};

static buffer_plan buffer_of(const char *name, buffer_role role, uint64_t count)
{
    buffer_plan b = {.role = role, .type = DTYPE_FLOAT, .count = count};
    snprintf(b.name, sizeof b.name, "%s", name);
    return b;
}

static device_predecessor predecessor(const char *name, const char *in, const char *out,
                                      uint64_t count)
{
    device_predecessor p = {.plan = {.buffer_count = 2, .seed = 7},
                            .image = {.bytes = name, .size_bytes = strlen(name) + 1}};
    snprintf(p.name, sizeof p.name, "%s", name);
    p.plan.buffers[0] = buffer_of(in, BUFFER_INPUT, count);
    p.plan.buffers[1] = buffer_of(out, BUFFER_OUTPUT, count);
    return p;
}

/* A problem whose sampled kernel reads m and writes y. */
typedef struct fixture {
    device device;
    device_slot slot;
    device_context context;
    device_predecessor before[2];
    device_problem problem;
    at_error error;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.slot = {.api = &api, .device = &f.device, .plan.buffer_count = 2}};
    f.slot.plan.buffers[0] = buffer_of("m", BUFFER_INPUT, 64);
    f.slot.plan.buffers[1] = buffer_of("y", BUFFER_OUTPUT, 64);
    for (int i = 0; i < 2; i++) {
        buffer_new(&f.device, f.slot.plan.buffers[i].name, 256, &f.slot.buffers[i], &f.error);
        fill(&f.device, f.slot.buffers[i], &f.slot.plan.buffers[i], 1, &f.error);
    }
    f.before[0] = predecessor("first", "x", "n", 64);
    f.before[1] = predecessor("second", "n", "m", 64);
    f.problem.before = f.before;
    f.problem.before_count = 2;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    device_context_deinit(&f->context);
    for (int i = 0; i < 2; i++)
        buffer_free(&f->device, f->slot.buffers[i]);
    return f->device.buffers || f->device.kernels ? -1 : 0;
}

/* Asserts that a buffer has the contents that buffer `i` of an ordinary problem has. */
static void assert_filled(const device_buffer *b, uint32_t i)
{
    char expected[sizeof b->from];
    snprintf(expected, sizeof expected, "%s of seed %llu", b->name,
             (unsigned long long)plan_buffer_seed(7, i));
    assert_string_equal(b->from, expected);
}

/* Takes samples of a kernel that runs in the fixture's context. */
static void take_samples(fixture *f, int count)
{
    device_meter meter;
    device_ready ready;
    device_kernel sampled = {"sampled"};
    const launch_plan plan = {0};
    int64_t time_ns;
    assert_ok(
        device_meter_init(&meter, &f->slot, &f->context, DEVICE_CACHE_COLD, &ready, &f->error),
        f->error);
    assert_int_equal(ready.batch, 1);
    f->device.done[0] = '\0';
    for (int i = 0; i < count; i++)
        assert_ok(device_meter_sample(&meter, &sampled, &plan, NULL, &time_ns, &f->error),
                  f->error);
    device_meter_deinit(&meter);
}

TEST_IN(kernels_that_write_the_inputs_run_before_each_sample, set_up, tear_down)
{
    fixture *f = *state;
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    take_samples(f, 2);
    assert_string_equal(f->device.done, "flush first second start by second sampled "
                                        "flush first second start by second sampled ");
}

TEST_IN(what_variants_are_checked_on_is_not_written, set_up, tear_down)
{
    fixture *f = *state;
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    assert_string_equal(f->slot.buffers[0]->from, "m of seed 1");
    assert_string_equal(f->context.own[0]->from, "by second");
    assert_string_equal(f->context.own[1]->from, "y of seed 1");
}

TEST_IN(buffers_of_one_name_are_one_buffer, set_up, tear_down)
{
    fixture *f = *state;
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    assert_ptr_equal(f->context.views[0][1], f->context.views[1][0]);
    assert_ptr_equal(f->context.views[1][1], f->context.own[0]);
    assert_int_equal(f->context.buffer_count, 4);
}

TEST_IN(buffers_of_one_name_and_two_sizes_are_an_error, set_up, tear_down)
{
    fixture *f = *state;
    f->before[1] = predecessor("second", "n", "m", 32);
    f->before[0] = predecessor("first", "x", "n", 32);
    assert_int_equal(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error),
                     AT_SCRIPT);
    assert_string_equal(
        f->error.message,
        "--after second: its buffer m has 128 bytes, but the buffer of that name in the kernels "
        "after it has 256: both are one buffer, so give both one size");
}

TEST_IN(what_a_kernel_reads_and_writes_is_the_same_before_each_sample, set_up, tear_down)
{
    fixture *f = *state;
    f->before[0].plan.buffers[0].role = BUFFER_INOUT;
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    snprintf(f->context.views[0][0]->from, sizeof f->context.views[0][0]->from, "changed");
    take_samples(f, 1);
    assert_filled(f->context.views[0][0], 0);
}

TEST_IN(each_buffer_has_values_of_its_own, set_up, tear_down)
{
    fixture *f = *state;
    f->before[0].plan.buffer_count = 3;
    f->before[0].plan.buffers[2] = buffer_of("z", BUFFER_INPUT, 64);
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    assert_filled(f->context.views[0][0], 0);
    assert_filled(f->context.views[0][2], 2);
}

TEST_IN(a_kernel_that_faults_is_named, set_up, tear_down)
{
    fixture *f = *state;
    f->device.launch_status = AT_DEVICE;
    assert_int_equal(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error),
                     AT_SCRIPT);
    assert_string_equal(f->error.message, "--after first: it faulted");
}

TEST_IN(without_kernels_there_is_nothing, set_up, tear_down)
{
    fixture *f = *state;
    f->problem.before_count = 0;
    assert_ok(device_context_init(&f->context, &f->slot, &f->problem, NULL, &f->error), f->error);
    assert_int_equal(f->context.count, 0);
    assert_int_equal(f->device.buffers, 2);
}
