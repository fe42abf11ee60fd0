/* Tests the loss of workers: a variant kills or blocks them, or another process kills or stops
 * them. */
#include <time.h>

#include "base/file.h"
#include "base/rng.h"
#include "children.h"
#include "temporary.h"
#include "worker_fixture.h"

TEST(a_fault_costs_the_variant_and_a_worker_not_the_run)
{
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "illegal", 1), OUTCOME_CRASHED, "CUDA_ERROR_ILLEGAL_ADDRESS");
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    expect_outcome(try_entry(&f, 3, "misaligned", 1), OUTCOME_CRASHED,
                   "CUDA_ERROR_MISALIGNED_ADDRESS");
    expect_outcome(try_entry(&f, 4, "good_10", 1), OUTCOME_OK, "");
    assert_int_equal(f.event.restarts, 2);
    end(&f);
}

TEST(a_kernel_that_never_ends_times_out_at_its_limit)
{
    fixture f;
    begin(&f);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    expect_outcome(try_entry(&f, 1, "hang", 1), OUTCOME_TIMEOUT, "checking had not ended after");
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_in_range(after.tv_sec - before.tv_sec, 1, 8);
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    end(&f);
}

TEST(a_worker_that_a_variant_kills_is_replaced_and_the_variant_blamed)
{
    fixture f;
    begin(&f);
    expect_outcome(try_entry(&f, 1, "abort_driver", 1), OUTCOME_CRASHED, "signal 6");
    expect_outcome(try_entry(&f, 2, "good_10", 1), OUTCOME_OK, "");
    end(&f);
}

TEST(workers_killed_at_random_lose_no_answer)
{
    enum { TRIES = 100, IN_FLIGHT = 4, KILLS = 12 };
    fixture f;
    begin(&f);
    rng random = rng_seeded(1);
    int answered[TRIES] = {0};
    uint64_t submitted = 0, done = 0, kills = 0;
    while (done < TRIES) {
        while (submitted < TRIES && device_worker_pending(f.worker) < IN_FLIGHT) {
            const device_variant v = plan_variant(submitted % 3 ? "good_25" : "zeros");
            assert_ok(device_worker_try(f.worker, submitted++, &v, 3, &f.error), f.error);
        }
        bool kill_it = kills < KILLS && rng_below(&random, 6) == 0;
        if (kill_it && children_find(0) > 0) {
            usleep((useconds_t)rng_below(&random, 3000));
            kill(children_find(0), SIGKILL);
            kills++;
        }
        const device_event *e = expect(&f, DEVICE_TRIED);
        assert_int_equal(e->id, done);
        answered[e->id]++;
        expect_outcome(e, e->id % 3 ? OUTCOME_OK : OUTCOME_WRONG_RESULT, "");
        if (e->outcome == OUTCOME_OK)
            assert_int_equal(e->samples_ns[2], 25000);
        done++;
    }
    for (int i = 0; i < TRIES; i++)
        assert_int_equal(answered[i], 1);
    assert_in_range(kills, 1, KILLS);
    assert_in_range(f.event.restarts, 1, KILLS);
    end(&f);
}

TEST(a_worker_killed_while_it_starts_is_started_again)
{
    fixture f;
    start(&f);
    kill(children_find(0), SIGKILL);
    set_up(&f);
    assert_int_equal(f.event.restarts, 1);
    end(&f);
}

TEST(a_stopped_worker_does_not_block_the_tuner_and_is_ended)
{
    fixture f;
    begin(&f);
    pid_t child = children_find(0);
    kill(child, SIGSTOP);
    /* This message is larger than the socket buffer. */
    static char large[1 << 20];
    memcpy(large, image_bytes, sizeof image_bytes);
    device_variant v = plan_variant("good_10");
    v.images[0] = (device_image){.bytes = large, .size_bytes = sizeof large};
    for (uint64_t id = 0; id < 4; id++)
        assert_ok(device_worker_try(f.worker, id, &v, 1, &f.error), f.error);
    assert_int_equal(device_worker_take(f.worker, 20, &f.event, &f.error), AT_NOT_FOUND);
    poll_set set;
    poll_set_start(&set, 100);
    device_worker_poll(f.worker, &set);
    assert_true(set.fds[0].events & POLLOUT);
    kill(child, SIGKILL);
    for (uint64_t id = 0; id < 4; id++)
        expect_outcome(expect(&f, DEVICE_TRIED), OUTCOME_OK, "");
    end(&f);
}

TEST_GROUP(worker_use_fake_driver, NULL)

/* Fills the input and the expected results of the tuned problem from a file. */
static void fill_from_file(fixture *f, const char *path, data_file **out)
{
    const dtype type = DTYPE_FLOAT;
    buffer_plan *buffers = f->problems[0].plan.buffers;
    float numbers[TUNED_COUNT];
    for (size_t i = 0; i < TUNED_COUNT; i++)
        numbers[i] = (float)i;
    assert_ok(file_replace(path, numbers, sizeof numbers, &f->error), f->error);
    assert_ok(data_file_open(path, &type, out, &f->error), f->error);
    f->problems[0].plan.oracle = ORACLE_FILE;
    buffers[0].fill = FILL_FILE;
    assert_ok(data_file_key(*out, buffers[0].data.bytes, &f->error), f->error);
    buffers[1].expected = buffers[0].data;
    assert_ok(device_worker_data(f->worker, *out, sizeof numbers, &f->error), f->error);
    assert_ok(device_worker_data(f->worker, *out, sizeof numbers, &f->error), f->error);
    assert_int_equal(device_worker_pending(f->worker), 1);
}

static void lose_worker(void)
{
    assert_true(children_find(0) > 0);
    kill(children_find(0), SIGKILL);
}

/* A worker whose set-up uses a file in a temporary folder. */
typedef struct filled {
    fixture f;
    data_file *file;
    char folder[TEMPORARY_BYTES], path[TEMPORARY_BYTES + 16];
} filled;

static void start_filled(filled *x)
{
    temporary_make(x->folder);
    snprintf(x->path, sizeof x->path, "%s/x.bin", x->folder);
    start(&x->f);
    fill_from_file(&x->f, x->path, &x->file);
    set_up(&x->f);
}

static void end_filled(filled *x)
{
    end(&x->f);
    data_file_free(x->file);
    temporary_remove(x->folder);
}

TEST(a_worker_that_takes_over_gets_the_files_again)
{
    filled x;
    start_filled(&x);
    for (uint64_t i = 0; i < 2; i++) {
        expect_outcome(try_entry(&x.f, 2 * i, "good_10", 1), OUTCOME_OK, "");
        expect_outcome(try_entry(&x.f, 2 * i + 1, "zeros", 1), OUTCOME_WRONG_RESULT,
                       "4095 of 4096 elements of dst differ from the file's, first dst[0][1]");
        if (i == 0)
            lose_worker();
    }
    assert_int_equal(x.f.event.restarts, 1);
    end_filled(&x);
}

TEST(a_file_that_has_changed_ends_the_worker_that_needs_it_again)
{
    filled x;
    start_filled(&x);
    FILE *changed = fopen(x.path, "r+b");
    assert_non_null(changed);
    assert_int_equal(fwrite("new", 3, 1, changed), 1);
    assert_int_equal(fclose(changed), 0);
    lose_worker();
    const device_variant v = plan_variant("good_10");
    assert_ok(device_worker_try(x.f.worker, 1, &v, 1, &x.f.error), x.f.error);
    expect(&x.f, DEVICE_FAILED);
    assert_int_equal(x.f.event.status, AT_SCRIPT);
    assert_non_null(strstr(x.f.event.message, "x.bin changed while it was in use"));
    end_filled(&x);
}
