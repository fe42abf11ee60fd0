#include "check.h"
#include "run/setup/workers.h"

enum { GPUS = 3 };

/* Addresses that stand for workers. The tests send no requests to these workers. */
static char workers_at[GPUS];

static device_worker *worker_at(size_t i)
{
    return (device_worker *)(void *)&workers_at[i];
}

static workers make_workers(void)
{
    workers w = {.device = worker_at(0), .other_count = GPUS - 1};
    for (size_t i = 1; i < GPUS; i++) {
        w.others[i - 1] = worker_at(i);
        w.other_properties[i - 1] = (device_properties){.spec = "cuda:1", .cuda_version = (int)i};
    }
    return w;
}

TEST(the_first_gpu_is_home_and_no_gpu_is_ready)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    assert_int_equal(g.count, GPUS);
    assert_int_equal(g.home, 0);
    assert_null(gpus_idlest(&g, 4));
}

TEST(the_least_busy_ready_gpu_is_chosen)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    for (size_t i = 0; i < GPUS; i++)
        g.items[i].ready = true;
    g.items[0].trying = 2;
    g.items[1].trying = 1;
    g.items[2].trying = 3;
    assert_ptr_equal(gpus_idlest(&g, 4), &g.items[1]);
    assert_null(gpus_idlest(&g, 1)); /* no GPU has fewer than 1 request */
    g.items[1].ready = false;
    assert_ptr_equal(gpus_idlest(&g, 4), &g.items[0]);
    g.items[0].lost = true;
    assert_ptr_equal(gpus_idlest(&g, 4), &g.items[2]);
}

TEST(prior_times_are_scaled_so_that_the_best_of_each_gpu_are_equal)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    g.items[0].best_ns = 1000;
    g.items[1].best_ns = 3000;
    assert_int_equal(gpus_prior_ns(&g, 0, 1200), 1200);
    assert_int_equal(gpus_prior_ns(&g, 1, 3000), 1000);
    assert_int_equal(gpus_prior_ns(&g, 1, 3300), 1100);
    assert_int_equal(gpus_prior_ns(&g, 1, 0), 0);
}

TEST(losing_another_gpu_keeps_the_home_gpu)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    g.items[2].trying = 4;
    assert_true(gpus_lose(&g, 2, &w));
    assert_int_equal(g.home, 0);
    assert_int_equal(g.items[2].trying, 0);
    assert_ptr_equal(w.device, worker_at(0));
}

TEST(losing_the_home_gpu_makes_another_gpu_home)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    assert_true(gpus_lose(&g, 0, &w));
    assert_int_equal(g.home, 1);
    assert_ptr_equal(w.device, worker_at(1));
    assert_int_equal(w.properties.cuda_version, 1);
    assert_ptr_equal(w.others[0], worker_at(0)); /* the caller frees the lost worker later */
    assert_true(gpus_lose(&g, 1, &w));
    assert_ptr_equal(w.device, worker_at(2));
    assert_int_equal(w.properties.cuda_version, 2);
    assert_false(gpus_lose(&g, 2, &w));
}

TEST(a_gpu_that_is_not_open_becomes_no_home)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    w.other_properties[0].spec[0] = '\0';
    assert_true(gpus_lose(&g, 0, &w));
    assert_ptr_equal(w.device, worker_at(2));
    assert_false(gpus_lose(&g, 2, &w));
    assert_ptr_equal(w.device, worker_at(2));
}

TEST(a_ready_gpu_becomes_home_before_others)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    g.items[2].ready = true;
    assert_true(gpus_lose(&g, 0, &w));
    assert_int_equal(g.home, 2);
}

TEST(times_are_scaled_by_the_copy_times_of_both_gpus)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    assert_true(gpus_likely_ns(&g, 1, 900) == 900.0); /* the ceilings are still unknown */
    g.items[0].ceiling_ns = 100;
    g.items[1].ceiling_ns = 300;
    assert_true(gpus_likely_ns(&g, 1, 900) == 300.0);
    assert_true(gpus_likely_ns(&g, 0, 900) == 900.0);
}

TEST(restarts_add_up)
{
    workers w = make_workers();
    gpus g;
    gpus_init(&g, &w);
    g.items[0].restarts = 2;
    g.items[2].restarts = 3;
    assert_int_equal(gpus_restarts(&g), 5);
}
