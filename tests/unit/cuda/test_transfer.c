#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "bench/client.h"

/* Tests transfers on the fake driver (tests/fake). Its streams do their work when a program
 * waits, and busy engines slow its clock. Processes, messages and checks are real. */

enum { TUNED_WORDS = 65536, RAGGED_WORDS = 25001, PIECES = 8, EVENT_LIMIT_MS = 60000 };

static const char image_bytes[] = "FAKE image";
static const device_image image = {.bytes = image_bytes, .size_bytes = sizeof image_bytes};

typedef struct fixture {
    device_worker *worker;
    device_problem problems[2];
    transfer_direction direction;
    uint64_t pieces, rounds;
    at_error error;
    device_event event; /* the event that was taken last */
} fixture;

static const uint64_t words_of[2] = {TUNED_WORDS, RAGGED_WORDS / PIECES *PIECES};

static void add_argument(launch_plan *p, bool is_buffer, uint64_t bits)
{
    p->arguments[p->argument_count++] = (argument_plan){.is_buffer = is_buffer,
                                                        .buffer = (uint8_t)(is_buffer ? bits : 0),
                                                        .bits = is_buffer ? 0 : bits,
                                                        .size_bytes = 8};
    p->launches[0].argument_count = p->argument_count;
}

static launch_plan plan_kernel(const char *entry)
{
    launch_plan p = {.launch_count = 1,
                     .launches = {{.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}}}};
    assert_true(plan_set_entry(&p, 0, entry));
    add_argument(&p, true, 0);
    add_argument(&p, true, 1);
    return p;
}

static transfer_task task_of(const fixture *f, size_t slot)
{
    uint64_t piece = 4 * words_of[slot] / f->pieces;
    return (transfer_task){.direction = f->direction,
                           .from = 0,
                           .to = 1,
                           .pieces = f->pieces,
                           .pitch_bytes = f->pieces > 1 ? piece + 100 : piece};
}

static void start(fixture *f, transfer_direction direction, uint64_t pieces, uint64_t rounds)
{
    const device_worker_options options = {.spec = "cuda:0",
                                           .watchdog_floor_ns = 2000 * INT64_C(1000000)};
    *f = (fixture){.direction = direction, .pieces = pieces, .rounds = rounds};
    for (size_t i = 0; i < 2; i++) {
        device_problem *p = &f->problems[i];
        *p = (device_problem){.reference = image,
                              .reference_launch = plan_kernel("transfer_reference")};
        add_argument(&p->reference_launch, false, words_of[i]);
        add_argument(&p->reference_launch, false, rounds);
        p->plan =
            (problem_plan){.buffer_count = 2,
                           .traffic_bytes = 4 * words_of[i] * (direction == TRANSFER_BOTH ? 2 : 1),
                           .seed = 42,
                           .transfer = task_of(f, i)};
        p->plan.buffers[0] = (buffer_plan){
            .name = "src", .role = BUFFER_INPUT, .type = DTYPE_FLOAT, .count = words_of[i]};
        p->plan.buffers[1] = (buffer_plan){.name = "dst",
                                           .role = BUFFER_OUTPUT,
                                           .type = DTYPE_FLOAT,
                                           .count = words_of[i],
                                           .repeats = true};
    }
    snprintf(f->problems[1].label, sizeof f->problems[1].label, "the ragged problem");
    assert_ok(device_worker_start(&options, &f->worker, &f->error), f->error);
    assert_ok(device_worker_setup(f->worker, (const device_image[DEVICE_SUPPORT_PARTS]){image},
                                  f->problems, 2, &f->error),
              f->error);
}

static const device_event *expect(fixture *f, device_event_kind kind)
{
    device_event_deinit(&f->event);
    assert_ok(device_worker_take(f->worker, EVENT_LIMIT_MS, &f->event, &f->error), f->error);
    if (f->event.kind != kind)
        fail_msg("event %d instead of %d: %s", (int)f->event.kind, (int)kind, f->event.message);
    return &f->event;
}

static void begin(fixture *f, transfer_direction direction, uint64_t pieces, uint64_t rounds)
{
    start(f, direction, pieces, rounds);
    expect(f, DEVICE_OPENED);
    expect(f, DEVICE_READY);
}

static void end(fixture *f)
{
    device_event_deinit(&f->event);
    device_worker_free(f->worker);
}

/* Makes a variant of a transfer. `entry` is the kernel's name, or NULL without a kernel. */
static device_variant variant_of(const fixture *f, const transfer_plan *how, const char *entry)
{
    device_variant v = {.present = {true, true}};
    for (size_t i = 0; i < 2; i++) {
        launch_plan p = {.launch_count = 0};
        transfer_task task = task_of(f, i);
        if (entry) {
            uint64_t piece = 4 * words_of[i] / f->pieces;
            bool mapped = how->memory == HOST_MAPPED;
            p = plan_kernel(entry);
            add_argument(&p, false, piece);
            add_argument(&p, false, mapped && transfer_from_host(&task) ? task.pitch_bytes : piece);
            add_argument(&p, false, mapped && transfer_to_host(&task) ? task.pitch_bytes : piece);
            add_argument(&p, false, f->rounds);
            v.images[i] = image;
        }
        p.transfer = *how;
        p.transfer.task = task;
        v.launches[i] = p;
    }
    return v;
}

static const device_event *try_it(fixture *f, const transfer_plan *how, const char *entry,
                                  size_t samples)
{
    const device_variant v = variant_of(f, how, entry);
    assert_ok(device_worker_try(f->worker, 1, &v, samples, &f->error), f->error);
    return expect(f, DEVICE_TRIED);
}

static void expect_outcome(const device_event *e, outcome wanted, const char *words)
{
    if (e->outcome != wanted || !strstr(e->message, words))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", outcome_name(e->outcome), e->message,
                 outcome_name(wanted), words);
}

static int64_t time_of(fixture *f, const transfer_plan *how)
{
    const device_event *e = try_it(f, how, NULL, 2);
    expect_outcome(e, OUTCOME_OK, "");
    assert_int_equal(e->sample_count, 2);
    assert_int_equal(e->samples_ns[0], e->samples_ns[1]);
    return e->samples_ns[0];
}

/* Tests every kind of transfer with the data of the tuned and the ragged problem. */
TEST(every_kind_of_transfer_moves_every_byte)
{
    static const uint64_t chunks[] = {0, 1024, 4096, 65536, 100000};
    rng r = rng_seeded(7);
    for (transfer_direction direction = TRANSFER_TO_DEVICE; direction < TRANSFER_DIRECTIONS;
         direction++)
        for (int shape = 0; shape < 4; shape++) {
            fixture f;
            bool works = shape & 1;
            begin(&f, direction, shape & 2 ? PIECES : 1, works ? 3 : 0);
            for (int i = 0; i < 8; i++) {
                transfer_plan how = {.memory = (host_memory)rng_below(&r, HOST_MEMORIES),
                                     .chunk_bytes = chunks[rng_below(&r, 5)],
                                     .streams = 1 + (uint32_t)rng_below(&r, 4)};
                bool mapped = how.memory == HOST_MAPPED;
                if (!mapped)
                    how.staging = (host_staging)rng_below(&r, STAGING_COUNT);
                const device_event *e = try_it(&f, &how, works || mapped ? "transfer" : NULL, 1);
                expect_outcome(e, OUTCOME_OK, "");
                assert_true(e->samples_ns[0] > 0);
            }
            end(&f);
        }
}

TEST(samples_change_no_inputs_and_no_later_checks)
{
    fixture f;
    begin(&f, TRANSFER_BOTH, 1, 0);
    const transfer_plan how = {.memory = HOST_PINNED, .chunk_bytes = 4096, .streams = 2};
    const device_variant v = variant_of(&f, &how, NULL);
    assert_ok(device_worker_hold(f.worker, 5, &v, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_HELD), OUTCOME_OK, "");
    for (uint64_t seed = 2; seed < 5; seed++) {
        const uint64_t ids[] = {5, 5};
        assert_ok(device_worker_block(f.worker, ids, 2, true, &f.error), f.error);
        expect_outcome(expect(&f, DEVICE_BLOCK), OUTCOME_OK, "");
        assert_ok(device_worker_recheck(f.worker, 5, seed, &f.error), f.error);
        expect_outcome(expect(&f, DEVICE_RECHECKED), OUTCOME_OK, "");
    }
    end(&f);
}

/* A copy takes 5 us plus 1 ns for each 24 bytes. */
TEST(the_ceiling_is_pinned_copies_in_all_directions_at_once)
{
    for (transfer_direction direction = TRANSFER_TO_DEVICE; direction < TRANSFER_DIRECTIONS;
         direction++) {
        fixture f;
        begin(&f, direction, PIECES, 0);
        assert_int_equal(f.event.ready.batch, 1);
        int64_t one_way_ns = 5000 + 4 * TUNED_WORDS / 24;
        /* The copy in the other direction is queued 1 us later. */
        assert_in_range(f.event.ceiling_ns, one_way_ns, one_way_ns + 2000);
        end(&f);
    }
}

TEST(pageable_memory_is_slower_than_pinned_and_small_chunks_than_large)
{
    fixture f;
    begin(&f, TRANSFER_TO_DEVICE, 1, 0);
    const transfer_plan pageable = {.memory = HOST_PAGEABLE, .streams = 1},
                        pinned = {.memory = HOST_PINNED, .streams = 1},
                        chunked = {.memory = HOST_PINNED, .streams = 1, .chunk_bytes = 1024};
    assert_int_equal(time_of(&f, &pinned), 5000 + 4 * TUNED_WORDS / 24);
    assert_int_equal(time_of(&f, &pageable), 20000 + 4 * TUNED_WORDS / 6);
    assert_true(time_of(&f, &chunked) > 256 * 5000);
    end(&f);
}

/* With two streams, both directions take at most one chunk of four longer than one direction. */
TEST(chunks_on_alternating_streams_overlap_both_directions)
{
    fixture f;
    begin(&f, TRANSFER_BOTH, 1, 0);
    const transfer_plan one_stream = {.memory = HOST_PINNED, .streams = 1, .chunk_bytes = 65536},
                        in_turns = {.memory = HOST_PINNED, .streams = 2, .chunk_bytes = 65536};
    int64_t one_way_ns = 4 * (5000 + 65536 / 24);
    assert_in_range(time_of(&f, &one_stream), 2 * one_way_ns, 2 * one_way_ns + 1000);
    assert_in_range(time_of(&f, &in_turns), one_way_ns, one_way_ns * 5 / 4 + 1000);
    end(&f);
}

/* Only the copies of the first chunk add to the time of the kernel. */
TEST(copies_hide_behind_a_kernel)
{
    fixture f;
    begin(&f, TRANSFER_TO_DEVICE, 1, 40);
    const transfer_plan one_stream = {.memory = HOST_PINNED, .streams = 1, .chunk_bytes = 65536},
                        in_turns = {.memory = HOST_PINNED, .streams = 2, .chunk_bytes = 65536};
    const device_event *e = try_it(&f, &one_stream, "transfer", 1);
    expect_outcome(e, OUTCOME_OK, "");
    int64_t apart_ns = e->samples_ns[0];
    e = try_it(&f, &in_turns, "transfer", 1);
    expect_outcome(e, OUTCOME_OK, "");
    int64_t copy_ns = 5000 + 65536 / 24;
    assert_in_range(apart_ns - e->samples_ns[0], 3 * copy_ns - 1000, 3 * copy_ns + 1000);
    end(&f);
}

TEST(a_kernel_that_writes_behind_its_chunk_is_a_wrong_result)
{
    fixture f;
    begin(&f, TRANSFER_TO_HOST, 1, 1);
    const transfer_plan mapped = {.memory = HOST_MAPPED, .streams = 1},
                        pinned = {.memory = HOST_PINNED, .streams = 1};
    expect_outcome(try_it(&f, &mapped, "transfer_past", 1), OUTCOME_WRONG_RESULT,
                   "past the end of buffer dst");
    expect_outcome(try_it(&f, &pinned, "transfer_past", 1), OUTCOME_WRONG_RESULT,
                   "past the end, on the device, of buffer dst");
    expect_outcome(try_it(&f, &pinned, "transfer", 1), OUTCOME_OK, "");
    end(&f);
}

TEST(a_write_between_two_pieces_is_a_wrong_result)
{
    fixture f;
    begin(&f, TRANSFER_TO_HOST, PIECES, 1);
    /* In mapped memory a chunk must consist of whole pieces. */
    const transfer_plan mapped = {
        .memory = HOST_MAPPED, .streams = 1, .chunk_bytes = 4 * TUNED_WORDS / PIECES};
    const device_event *e = try_it(&f, &mapped, "transfer_past", 1);
    assert_int_equal(e->outcome, OUTCOME_WRONG_RESULT);
    end(&f);
}

TEST(memory_that_cannot_be_pinned_costs_the_variant_alone)
{
    fixture f;
    setenv("FAKE_CUDA_PINNED", "100000", 1);
    begin(&f, TRANSFER_TO_DEVICE, 1, 0);
    assert_int_equal(f.event.ceiling_ns, 0);
    const transfer_plan pinned = {.memory = HOST_PINNED, .streams = 1},
                        pageable = {.memory = HOST_PAGEABLE, .streams = 1};
    expect_outcome(try_it(&f, &pinned, NULL, 1), OUTCOME_LAUNCH_ERROR, "pinned host memory");
    expect_outcome(try_it(&f, &pageable, NULL, 1), OUTCOME_OK, "");
    assert_int_equal(f.event.restarts, 0);
    unsetenv("FAKE_CUDA_PINNED");
    end(&f);
}

TEST(a_transfer_of_missing_buffers_is_refused)
{
    fixture f;
    begin(&f, TRANSFER_TO_DEVICE, 1, 0);
    const transfer_plan pinned = {.memory = HOST_PINNED, .streams = 1};
    device_variant v = variant_of(&f, &pinned, NULL);
    v.launches[1].transfer.task.pieces = 3;
    assert_ok(device_worker_try(f.worker, 1, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR,
                   "does not fit the buffers src and dst");
    v.launches[0].transfer.task.to = 2;
    assert_ok(device_worker_try(f.worker, 1, &v, 1, &f.error), f.error);
    expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_LAUNCH_ERROR, "the number of buffers is 2");
    end(&f);
}

static int prepare(void **state)
{
    (void)state;
    setenv("AUTOTUNE_LIBCUDA", FAKE_CUDA, 1);
    return 0;
}

TEST_GROUP(prepare, NULL)
