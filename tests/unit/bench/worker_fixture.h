/* A device worker on the fake driver (tests/fake): real processes, messages and checks, but no
 * GPU. Buffers contain floats. A right variant copies src to dst. The entry's name selects what
 * the kernel does: "good_50" is right and takes 50 us. */
#ifndef AUTOTUNE_WORKER_FIXTURE_H
#define AUTOTUNE_WORKER_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/client.h"
#include "check.h"

enum { TUNED_COUNT = 4096, RAGGED_COUNT = 1003, EVENT_LIMIT_MS = 60000 };

static const char image_bytes[] = "FAKE image";
static const device_image image = {.bytes = image_bytes, .size_bytes = sizeof image_bytes};

static inline launch_plan plan_launch(const char *entry, uint64_t count)
{
    launch_plan p = {.launch_count = 1,
                     .launches = {{.grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .cluster = {1, 1, 1},
                                   .argument_count = 3}},
                     .argument_count = 3};
    assert_true(plan_set_entry(&p, 0, entry));
    p.arguments[0] = (argument_plan){.is_buffer = true, .buffer = 0, .size_bytes = 8};
    p.arguments[1] = (argument_plan){.is_buffer = true, .buffer = 1, .size_bytes = 8};
    p.arguments[2] = (argument_plan){.size_bytes = 8, .bits = count};
    return p;
}

static inline device_problem plan_problem(const char *reference, uint64_t count, buffer_role role)
{
    device_problem p = {.reference = image, .reference_launch = plan_launch(reference, count)};
    p.plan = (problem_plan){.buffer_count = 2, .traffic_bytes = 8 * count, .seed = 42};
    p.plan.buffers[0] =
        (buffer_plan){.name = "src", .role = BUFFER_INPUT, .type = DTYPE_FLOAT, .count = count};
    p.plan.buffers[1] = (buffer_plan){.name = "dst",
                                      .role = role,
                                      .type = DTYPE_FLOAT,
                                      .count = count,
                                      .repeats = true,
                                      .rank = 2,
                                      .shape = {count / 8, 8}};
    return p;
}

static inline device_variant plan_variant(const char *entry)
{
    device_variant v = {.present = {true, true}, .images = {image}};
    v.launches[0] = plan_launch(entry, TUNED_COUNT);
    v.launches[1] = plan_launch(entry, RAGGED_COUNT);
    return v;
}

/* A started worker. Most tests also set it up. */
typedef struct fixture {
    device_worker *worker;
    device_problem problems[2];
    at_error error;
    device_event event; /* the event that was taken last */
} fixture;

static inline void start(fixture *f)
{
    const device_worker_options options = {.spec = "cuda:0",
                                           .watchdog_floor_ns = 300 * 1000 * 1000};
    *f = (fixture){0};
    f->problems[0] = plan_problem("good_1000", TUNED_COUNT, BUFFER_OUTPUT);
    f->problems[1] = plan_problem("good_1000", RAGGED_COUNT, BUFFER_OUTPUT);
    snprintf(f->problems[1].label, sizeof f->problems[1].label, "the ragged problem");
    assert_ok(device_worker_start(&options, &f->worker, &f->error), f->error);
}

/* Takes the next event as the tuner's loop does. */
static inline const device_event *next(fixture *f)
{
    device_event_deinit(&f->event);
    assert_ok(device_worker_take(f->worker, EVENT_LIMIT_MS, &f->event, &f->error), f->error);
    return &f->event;
}

static inline const device_event *expect(fixture *f, device_event_kind kind)
{
    const device_event *e = next(f);
    if (e->kind != kind)
        fail_msg("event %d instead of %d: %s", (int)e->kind, (int)kind, e->message);
    return e;
}

static inline void set_up(fixture *f)
{
    assert_ok(device_worker_setup(f->worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f->problems, 2, &f->error),
              f->error);
    expect(f, DEVICE_OPENED);
    expect(f, DEVICE_READY);
}

static inline void begin(fixture *f)
{
    start(f);
    set_up(f);
}

static inline void end(fixture *f)
{
    device_event_deinit(&f->event);
    device_worker_free(f->worker);
}

static inline const device_event *try_entry(fixture *f, uint64_t id, const char *entry,
                                            size_t samples)
{
    const device_variant v = plan_variant(entry);
    assert_ok(device_worker_try(f->worker, id, &v, samples, &f->error), f->error);
    const device_event *e = expect(f, DEVICE_TRIED);
    assert_int_equal(e->id, id);
    return e;
}

static inline void expect_outcome(const device_event *e, outcome wanted, const char *words)
{
    if (e->outcome != wanted || !strstr(e->message, words))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", outcome_name(e->outcome), e->message,
                 outcome_name(wanted), words);
}

static inline void hold(fixture *f, uint64_t id, const char *entry)
{
    const device_variant v = plan_variant(entry);
    assert_ok(device_worker_hold(f->worker, id, &v, &f->error), f->error);
    const device_event *e = expect(f, DEVICE_HELD);
    assert_int_equal(e->id, id);
    expect_outcome(e, OUTCOME_OK, "");
}

/* Set-up of a group: selects the fake driver. */
static inline int worker_use_fake_driver(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    setenv("FAKE_CUDA_EAGER", "1", 1);
    return 0;
}

#endif
