/* Tests sites that several threads or several ranks call. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "sites_fixture.h"

/* ---- threads ---- */

enum { THREADS = 8, SIZES = 10, ROUNDS = 4000 };

typedef struct thread {
    pthread_t id;
    at_sites *sites;
    caller caller;
} thread;

static void *work(void *context)
{
    thread *t = context;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t n = 10 + (i % SIZES) * 20000;
        call(&t->caller, open_axpy(t->sites, n), n);
    }
    return NULL;
}

typedef struct other {
    at_site *site;
    pthread_t thread;
    at_values values;
    atomic_int begun, done;
} other;

static void *call_plainly(void *context)
{
    other *o = context;
    stream s = {0};
    at_error error;
    if (at_site_begin(o->site, &s, &o->values, &error) == AT_OK &&
        at_site_end(o->site, &s, &o->values, &error) == AT_OK)
        atomic_store(&o->done, 1);
    return NULL;
}

static void call_meanwhile(void *context)
{
    other *o = context;
    if (atomic_exchange(&o->begun, 1))
        return;
    assert_int_equal(pthread_create(&o->thread, NULL, call_plainly, o), 0);
    for (int i = 0; i < 5000 && !atomic_load(&o->done); i++)
        usleep(1000);
}

TEST_IN(a_call_does_not_wait_while_another_is_timed, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(1);
    other o = {.site = open_axpy(sites, 100)};
    call(&c, o.site, 100);
    ((simulated *)sites->timer)->context = &o;
    ((simulated *)sites->timer)->meanwhile = call_meanwhile;
    while (!atomic_load(&o.begun))
        call(&c, o.site, 100);
    assert_int_equal(atomic_load(&o.done), 1);
    pthread_join(o.thread, NULL);
    assert_int_equal(o.values.ticket, 0);
    assert_int_equal(o.values.configuration, 0);
    assert_int_equal(report_of(o.site).calls, c.calls + 1);
    at_sites_close(sites);
}

TEST_IN(threads_share_sites, set_up, tear_down)
{
    fixture *f = *state;
    const at_sites_options options = {.folder = f->folder};
    at_sites *sites = open_for(&options, &h200, "580", 3);
    thread threads[THREADS];
    for (uint64_t i = 0; i < THREADS; i++) {
        threads[i] = (thread){.sites = sites, .caller = caller_of(20 + i)};
        assert_int_equal(pthread_create(&threads[i].id, NULL, work, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i].id, NULL);
    for (int i = 0; i < SIZES; i++) {
        int64_t n = 10 + i * 20000;
        at_site_report r = report_of(open_axpy(sites, n));
        expect_best(open_axpy(sites, n), n);
        assert_true(r.spent_ns <= r.seen_ns / 50);
    }
    at_sites_close(sites);
}

/* ---- ranks ---- */

enum { RANKS = 4 };

/* The ranks are threads in this test. A broadcast copies rank 0's bytes between two barriers. */
typedef struct world {
    pthread_barrier_t barrier;
    void *bytes;
} world;

typedef struct rank {
    pthread_t id;
    world *world;
    int number;
    const char *folder;
    uint32_t used[ROUNDS * 4];
    size_t used_count, used_again; /* uses of a configuration after it was reported as invalid */
    at_site_state state;
    int64_t block;
} rank;

static int broadcast(void *context, void *bytes, size_t size_bytes)
{
    rank *r = context;
    if (r->number == 0)
        r->world->bytes = bytes;
    pthread_barrier_wait(&r->world->barrier);
    if (r->number != 0)
        memcpy(bytes, r->world->bytes, size_bytes);
    pthread_barrier_wait(&r->world->barrier);
    return 0;
}

static void *work_as_rank(void *context)
{
    rank *r = context;
    const at_sites_options options = {
        .folder = r->folder, .broadcast = broadcast, .context = r, .rank = r->number};
    at_sites *sites = open_for(&options, &h200, "580", 2);
    at_site *site = open_axpy(sites, 5000);
    stream s = {0};
    at_error error = {0};
    bool refused[10] = {false};
    int uses[10] = {0};
    for (size_t i = 0; i < ROUNDS * 4; i++) {
        at_values v;
        assert_ok(at_site_begin(site, &s, &v, &error), error);
        r->used[r->used_count++] = v.configuration;
        r->used_again += refused[v.configuration];
        s.now_ns += (int64_t)axpy_ns(5000, v.items);
        /* All ranks learn in the same call that the configuration is invalid. */
        refused[v.configuration] = v.items[0].integer == 1024 && ++uses[v.configuration] > 3;
        if (refused[v.configuration])
            assert_ok(at_site_invalid(site, &v, &error), error);
        else
            assert_ok(at_site_end(site, &s, &v, &error), error);
    }
    r->state = report_of(site).state;
    r->block = report_of(site).values.items[0].integer;
    at_sites_close(sites);
    return NULL;
}

TEST_IN(ranks_use_the_same_values_in_every_call, set_up, tear_down)
{
    fixture *f = *state;
    world w = {0};
    static rank ranks[RANKS];
    pthread_barrier_init(&w.barrier, NULL, RANKS);
    for (int i = 0; i < RANKS; i++) {
        ranks[i] = (rank){.world = &w, .number = i, .folder = f->folder};
        assert_int_equal(pthread_create(&ranks[i].id, NULL, work_as_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < RANKS; i++)
        pthread_join(ranks[i].id, NULL);
    for (int i = 0; i < RANKS; i++) {
        assert_memory_equal(ranks[i].used, ranks[0].used, sizeof ranks[0].used);
        assert_int_equal(ranks[i].used_again, 0);
        assert_int_equal(ranks[i].state, AT_SITE_DECIDED);
        assert_int_equal(ranks[i].block, 256);
    }
    pthread_barrier_destroy(&w.barrier);
}
