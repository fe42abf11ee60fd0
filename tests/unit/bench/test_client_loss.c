/* Workers that a variant, or somebody, ends or stops. */
#include <time.h>

#include "base/rng.h"
#include "children.h"
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

TEST(a_stopped_worker_neither_blocks_the_tuner_nor_lasts)
{
    fixture f;
    begin(&f);
    pid_t child = children_find(0);
    kill(child, SIGSTOP);
    /* More than a socket holds. */
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

static int prepare(void **state)
{
    (void)state;
    worker_use_fake_driver();
    return 0;
}

TEST_GROUP(prepare, NULL)
