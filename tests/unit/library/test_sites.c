/* Sites of a program, as it calls them: with a timer whose time is simulated, threads, ranks, and a
 * store, whose own test is test_site_store.c. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "autotune.h"
#include "base/file.h"
#include "base/rng.h"
#include "check.h"
#include "library/sites.h"
#include "temporary.h"

/* ---- a timer of streams whose time passes when the program says so ---- */

typedef struct stream {
    int64_t now_ns;
    bool captured;
} stream;

struct site_mark {
    stream *stream;
    int64_t begun_ns, time_ns;
    int asked;
};

typedef struct simulated {
    site_timer timer;
    int late;                         /* times are known when they were asked for so often */
    atomic_int marks;                 /* that were not given back */
    void (*meanwhile)(void *context); /* called while a time is begun; NULL: nothing */
    void *context;
    bool *closed;
} simulated;

static site_mark *sim_begin(site_timer *timer, void *in, bool *hidden)
{
    stream *s = in;
    *hidden = true;
    if (s->captured)
        return NULL;
    site_mark *m = calloc(1, sizeof *m);
    *m = (site_mark){.stream = s, .begun_ns = s->now_ns};
    simulated *own = (simulated *)timer;
    atomic_fetch_add(&own->marks, 1);
    if (own->meanwhile)
        own->meanwhile(own->context);
    return m;
}

static bool sim_end(site_timer *timer, site_mark *m, void *in, int64_t now_ns)
{
    (void)timer;
    (void)now_ns;
    const stream *s = in;
    m->time_ns = s->now_ns - m->begun_ns;
    return !s->captured;
}

static int sim_ask(site_timer *timer, site_mark *m, int64_t *time_ns)
{
    *time_ns = m->time_ns;
    return m->asked++ >= ((simulated *)timer)->late;
}

static void sim_give(site_timer *timer, site_mark *m)
{
    atomic_fetch_sub(&((simulated *)timer)->marks, 1);
    free(m);
}

static int64_t sim_host_ns(site_timer *timer)
{
    (void)timer;
    return 0;
}

static void sim_close(site_timer *timer)
{
    assert_int_equal(atomic_load(&((simulated *)timer)->marks), 0);
    free(timer);
}

static const site_timer_api sim_api = {sim_begin, sim_end,     sim_ask,
                                       sim_give,  sim_host_ns, sim_close};

static const arch_limits h200 = {.name = "NVIDIA H200", .major = 9};

static at_sites *open_for(const at_sites_options *options, const arch_limits *gpu,
                          const char *driver, int late)
{
    at_sites *sites = NULL;
    at_error error = {0};
    simulated *s = calloc(1, sizeof *s);
    s->timer.api = &sim_api;
    s->late = late;
    assert_ok(sites_open_with(options, &s->timer, gpu, driver, &sites, &error), error);
    return sites;
}

static at_sites *open_in(const char *folder)
{
    return open_for(&(at_sites_options){.folder = folder, .code = "1"}, &h200, "580", 0);
}

/* ---- a program with a kernel "axpy": its best block depends on n ---- */

static const int64_t blocks[] = {128, 64, 256, 512, 1024};
static const char *const ways[] = {"plain", "vector"};

static at_site *open_axpy(at_sites *sites, int64_t n)
{
    const at_variable variables[] = {at_integer("n", n), at_text("type", "float")};
    const at_parameter parameters[] = {at_integers("block", blocks, 5), at_texts("way", ways, 2)};
    at_site *site = NULL;
    at_error error = {0};
    assert_ok(at_site_open(sites, "axpy", variables, 2, parameters, 2, &site, &error), error);
    return site;
}

static double axpy_ns(int64_t n, const at_variable *v)
{
    double best = n < 1000 ? 64 : n < 100000 ? 256 : 1024;
    double off = fabs(log2((double)v[0].integer / best));
    return 1e4 * (1 + 0.15 * off) * (strcmp(v[1].text, "vector") == 0 ? 0.8 : 1);
}

typedef struct caller {
    stream stream;
    rng random;
    double spent_ns, plain_ns;
    uint64_t calls, timed;
} caller;

static caller caller_of(uint64_t seed)
{
    return (caller){.random = rng_seeded(seed)};
}

static void call(caller *c, at_site *site, int64_t n)
{
    at_values values;
    at_error error = {0};
    assert_ok(at_site_begin(site, &c->stream, &values, &error), error);
    assert_int_equal(values.count, 2);
    double noise = 1 + 0.01 * (rng_uniform(&c->random) - 0.5);
    c->stream.now_ns += (int64_t)(axpy_ns(n, values.items) * noise);
    c->calls++;
    c->timed += values.ticket != 0;
    assert_ok(at_site_end(site, &c->stream, &values, &error), error);
}

static at_site_report report_of(at_site *site)
{
    at_site_report report;
    at_error error = {0};
    assert_ok(at_site_get(site, &report, &error), error);
    return report;
}

static void call_until_decided(caller *c, at_site *site, int64_t n)
{
    for (int i = 0; i < 100000 && report_of(site).state == AT_SITE_TUNING; i++)
        call(c, site, n);
    assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
}

static void expect_best(at_site *site, int64_t n)
{
    at_site_report r = report_of(site);
    assert_int_equal(r.values.items[0].integer, n < 1000 ? 64 : n < 100000 ? 256 : 1024);
    assert_string_equal(r.values.items[1].text, "vector");
}

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    temporary_make(f.folder);
    unsetenv("AUTOTUNE_SITES");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    temporary_remove(f->folder);
    unsetenv("AUTOTUNE_SITES");
    return 0;
}

/* ---- calls ---- */

TEST_IN(each_problem_is_tuned_for_itself, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(1);
    static const int64_t sizes[] = {100, 5000, 1000000};
    for (int i = 0; i < 30000; i++)
        call(&c, open_axpy(sites, sizes[i % 3]), sizes[i % 3]);
    for (int i = 0; i < 3; i++) {
        at_site *site = open_axpy(sites, sizes[i]);
        assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
        expect_best(site, sizes[i]);
        assert_true(report_of(site).spent_ns <= report_of(site).seen_ns / 50);
    }
    assert_null(at_sites_problem(sites, 0));
    at_sites_close(sites);
}

TEST_IN(a_site_is_the_same_for_the_same_name_and_problem, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    assert_ptr_equal(open_axpy(sites, 100), open_axpy(sites, 100));
    assert_ptr_not_equal(open_axpy(sites, 100), open_axpy(sites, 101));
    at_sites_close(sites);
}

TEST_IN(times_may_come_late, set_up, tear_down)
{
    fixture *f = *state;
    const at_sites_options options = {.folder = f->folder};
    at_sites *sites = open_for(&options, &h200, "580", 40);
    caller c = caller_of(2);
    at_site *site = open_axpy(sites, 5000);
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    at_sites_close(sites);
}

TEST_IN(pairs_that_overlap_do_not_mix, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    caller c[2] = {caller_of(3), caller_of(4)};
    at_error error = {0};
    /* The second begins before the first ends, and the first ends before the second. */
    for (int i = 0; i < 30000; i++) {
        at_values v[2];
        for (int k = 0; k < 2; k++) {
            assert_ok(at_site_begin(site, &c[k].stream, &v[k], &error), error);
            c[k].stream.now_ns += (int64_t)axpy_ns(5000, v[k].items);
        }
        for (int k = 0; k < 2; k++)
            assert_ok(at_site_end(site, &c[k].stream, &v[k], &error), error);
    }
    expect_best(site, 5000);
    at_sites_close(sites);
}

TEST_IN(captured_launches_use_the_present_choice_and_are_not_timed, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    caller c = caller_of(5);
    at_error error = {0};
    for (int i = 0; i < 400; i++)
        call(&c, site, 5000);
    c.stream.captured = true;
    for (int i = 0; i < 400; i++) {
        at_values v;
        assert_ok(at_site_begin(site, &c.stream, &v, &error), error);
        assert_int_equal(v.ticket, 0);
        assert_int_equal(v.configuration, report_of(site).values.configuration);
        assert_ok(at_site_end(site, &c.stream, &v, &error), error);
    }
    c.stream.captured = false;
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    at_sites_close(sites);
}

static int allows(void *context, const at_variable *values, size_t count)
{
    const int64_t *most = context;
    return count == 2 && values[0].integer <= *most;
}

TEST_IN(what_the_program_forbids_is_never_used, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    int64_t most = 64; /* not even the default's 128 */
    at_error error = {0};
    assert_ok(at_site_restrict(site, allows, &most, &error), error);
    caller c = caller_of(6);
    for (int i = 0; i < 20000; i++) {
        at_values v;
        assert_ok(at_site_begin(site, &c.stream, &v, &error), error);
        assert_int_equal(v.items[0].integer, 64);
        c.stream.now_ns += (int64_t)axpy_ns(5000, v.items);
        assert_ok(at_site_end(site, &c.stream, &v, &error), error);
    }
    assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
    most = 2048;
    assert_int_equal(at_site_restrict(site, NULL, &most, &error), AT_USAGE);
    at_sites_close(sites);
}

/* A program finds out by launching that it cannot. */
static uint32_t call_with_refusals(caller *c, at_site *site, bool *refused)
{
    at_values v;
    at_error error = {0};
    for (;;) {
        assert_ok(at_site_begin(site, &c->stream, &v, &error), error);
        assert_false(refused[v.configuration]);
        if (v.items[0].integer <= 256 && v.items[0].integer > 64)
            break;
        refused[v.configuration] = true;
        assert_ok(at_site_invalid(site, &v, &error), error);
    }
    c->stream.now_ns += (int64_t)axpy_ns(1000000, v.items);
    assert_ok(at_site_end(site, &c->stream, &v, &error), error);
    return v.configuration;
}

TEST_IN(what_turns_out_to_be_invalid_is_given_once, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 1000000);
    bool refused[10] = {false};
    caller c = caller_of(7);
    for (int i = 0; i < 20000; i++)
        call_with_refusals(&c, site, refused);
    assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
    assert_int_equal(report_of(site).values.items[0].integer, 256);
    at_sites_close(sites);
}

TEST_IN(a_recalled_choice_that_is_invalid_is_tuned_anew, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(8);
    call_until_decided(&c, open_axpy(sites, 1000000), 1000000);
    at_sites_close(sites);
    sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 1000000);
    assert_int_equal(report_of(site).state, AT_SITE_RECALLED);
    bool refused[10] = {false};
    call_with_refusals(&c, site, refused);
    assert_int_equal(report_of(site).state, AT_SITE_TUNING);
    for (int i = 0; i < 20000; i++)
        call_with_refusals(&c, site, refused);
    assert_int_equal(report_of(site).values.items[0].integer, 256);
    at_sites_close(sites);
}

TEST_IN(a_recalled_choice_that_the_program_forbids_is_tuned_anew, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(18);
    at_error error = {0};
    int64_t most = 256;
    call_until_decided(&c, open_axpy(sites, 1000000), 1000000);
    at_sites_close(sites);
    sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 1000000);
    assert_ok(at_site_restrict(site, allows, &most, &error), error);
    call_until_decided(&c, site, 1000000);
    assert_int_equal(report_of(site).values.items[0].integer, 256);
    at_sites_close(sites);
}

TEST_IN(where_all_is_invalid_begin_says_so, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    at_values v;
    stream s = {0};
    at_error error = {0};
    for (int i = 0; i < 10; i++) {
        assert_ok(at_site_begin(site, &s, &v, &error), error);
        assert_ok(at_site_invalid(site, &v, &error), error);
    }
    assert_int_equal(at_site_begin(site, &s, &v, &error), AT_NOT_FOUND);
    at_sites_close(sites);
}

TEST_IN(a_frozen_site_makes_no_trials_and_is_not_written, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    caller c = caller_of(9);
    at_error error = {0};
    for (int i = 0; i < 500; i++)
        call(&c, site, 5000);
    assert_ok(at_site_freeze(site, &error), error);
    c.timed = 0;
    for (int i = 0; i < 5000; i++)
        call(&c, site, 5000);
    assert_int_equal(c.timed, 0);
    assert_int_equal(report_of(site).state, AT_SITE_FROZEN);
    at_sites_close(sites);
    sites = open_in(f->folder);
    assert_int_equal(report_of(open_axpy(sites, 5000)).state, AT_SITE_TUNING);
    at_sites_close(sites);
}

TEST_IN(mistakes_in_what_is_given_are_named, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = NULL;
    at_error error = {0};
    const at_parameter none[] = {{"block", AT_KIND_INTEGER, 0, blocks, NULL, NULL}};
    const at_parameter twice[] = {at_integers("block", blocks, 5), at_integers("block", blocks, 5)};
    assert_int_equal(at_site_open(sites, "axpy", NULL, 0, none, 1, &site, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "'block' has no values"));
    assert_int_equal(at_site_open(sites, "axpy", NULL, 0, twice, 2, &site, &error), AT_USAGE);
    assert_int_equal(at_site_open(sites, "a b", NULL, 0, twice, 1, &site, &error), AT_USAGE);
    assert_null(site);
    at_sites_close(sites);
    setenv("AUTOTUNE_SITES", "maybe", 1);
    assert_int_equal(
        at_sites_open(&(at_sites_options){.clock = AT_SITE_CLOCK_HOST}, &sites, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "off, use or tune"));
}

/* ---- mistakes in how sites are called ---- */

TEST_IN(a_call_ends_once, set_up, tear_down)
{
    fixture *f = *state;
    /* Times are known at once, or late: then the second end would be that of a longer call. */
    for (int late = 0; late <= 40; late += 40) {
        at_sites *sites = open_for(&(at_sites_options){.folder = f->folder}, &h200, "580", late);
        at_site *site = open_axpy(sites, 5000 + late);
        caller c = caller_of(7);
        at_error error = {0};
        at_values v = {0};
        uint64_t refused = 0;
        for (int i = 0; i < 2000; i++) {
            assert_ok(at_site_begin(site, &c.stream, &v, &error), error);
            c.stream.now_ns += (int64_t)axpy_ns(5000, v.items);
            assert_ok(at_site_end(site, &c.stream, &v, &error), error);
            c.stream.now_ns += 100000;
            if (at_site_end(site, &c.stream, &v, &error)) {
                assert_non_null(strstr(error.message, "'axpy' has ended already"));
                refused++;
            }
            c.timed += v.ticket != 0;
        }
        assert_true(c.timed > 0);
        assert_int_equal(refused, c.timed);
        call_until_decided(&c, site, 5000);
        expect_best(site, 5000);
        at_sites_close(sites);
    }
}

TEST_IN(values_end_the_call_of_their_own_site, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *one = open_axpy(sites, 100), *other = open_axpy(sites, 5000);
    caller c = caller_of(8);
    at_error error = {0};
    at_values v[2];
    for (int i = 0; i < 2000; i++) {
        assert_ok(at_site_begin(one, &c.stream, &v[0], &error), error);
        assert_ok(at_site_begin(other, &c.stream, &v[1], &error), error);
        c.stream.now_ns += (int64_t)axpy_ns(5000, v[1].items);
        if (v[1].ticket) {
            assert_int_equal(at_site_end(one, &c.stream, &v[1], &error), AT_USAGE);
            assert_non_null(strstr(error.message, "not of the site 'axpy'"));
        }
        assert_int_equal(at_site_invalid(one, &v[1], &error), AT_USAGE);
        assert_ok(at_site_end(other, &c.stream, &v[1], &error), error);
        assert_ok(at_site_end(one, &c.stream, &v[0], &error), error);
    }
    call_until_decided(&c, other, 5000);
    expect_best(other, 5000);
    at_sites_close(sites);
}

TEST_IN(a_site_has_one_list_of_parameters, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    const at_variable n[] = {at_integer("n", 100)};
    const int64_t copied[] = {128, 64, 256, 512, 1024}, one_differs[] = {128, 64, 256, 512, 2048};
    const double numbers[] = {0.5, 1.5};
    char plain[] = "plain", vector[] = "vector";
    const char *const same_texts[] = {plain, vector}, *const other_texts[] = {plain, plain};
    const at_parameter is[] = {at_integers("block", blocks, 5), at_texts("way", ways, 2),
                               at_numbers("f", numbers, 2)},
                       same[] = {at_integers("block", copied, 5), at_texts("way", same_texts, 2),
                                 at_numbers("f", numbers, 2)};
    at_site *site = NULL, *again = NULL;
    at_error error = {0};
    assert_ok(at_site_open(sites, "axpy", n, 1, is, 3, &site, &error), error);
    assert_ok(at_site_open(sites, "axpy", n, 1, same, 3, &again, &error), error);
    assert_ptr_equal(site, again);
    /* A program may ask with the choice of the last call as the default. */
    const int64_t moved[] = {512, 128, 64, 256, 1024};
    const at_parameter otherwise[] = {at_integers("block", moved, 5), is[1], is[2]};
    assert_ok(at_site_open(sites, "axpy", n, 1, otherwise, 3, &again, &error), error);
    assert_ptr_equal(site, again);
    for (int wrong = 0; wrong < 6; wrong++) {
        at_parameter other[] = {is[0], is[1], is[2]};
        const at_parameter instead[] = {at_integers("block", one_differs, 5),
                                        at_integers("block", blocks, 4),
                                        at_integers("tile", blocks, 5),
                                        {"block", AT_KIND_BOOLEAN, 5, blocks, NULL, NULL},
                                        {"block", AT_KIND_INTEGER, 5, NULL, NULL, NULL},
                                        at_texts("way", other_texts, 2)};
        other[wrong == 5] = instead[wrong];
        assert_int_equal(at_site_open(sites, "axpy", n, 1, other, 3, &again, &error), AT_USAGE);
        assert_non_null(strstr(error.message, "'axpy' was opened with other parameters"));
        assert_null(again);
    }
    assert_int_equal(at_site_open(sites, "axpy", n, 1, is, 2, &again, &error), AT_USAGE);
    at_sites_close(sites);
}

/* A call that a thread never ended, as after an exception, is given up some day. */
TEST_IN(calls_that_never_end_hold_nothing_up, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    caller c = caller_of(9);
    at_error error = {0};
    at_values v;
    for (int i = 0; i < 30000; i++) {
        assert_ok(at_site_begin(site, &c.stream, &v, &error), error);
        c.stream.now_ns += (int64_t)axpy_ns(5000, v.items);
        if (i % 10)
            assert_ok(at_site_end(site, &c.stream, &v, &error), error);
    }
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    assert_ok(at_site_begin(open_axpy(sites, 100), &c.stream, &v, &error), error);
    at_sites_close(sites);
}

TEST_IN(a_capture_that_begins_within_a_call_has_it_not_timed, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    caller c = caller_of(10);
    at_error error = {0};
    for (int i = 0; i < 4000; i++) {
        at_values v;
        c.stream.captured = i % 4 == 1;
        assert_ok(at_site_begin(site, &c.stream, &v, &error), error);
        c.stream.captured = i % 4 == 2;
        c.stream.now_ns += (int64_t)axpy_ns(5000, v.items) * (c.stream.captured ? 100 : 1);
        assert_ok(at_site_end(site, &c.stream, &v, &error), error);
    }
    c.stream.captured = false;
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    at_sites_close(sites);
}

/* What a fork may call of the sites that it got. */
static int use_in_fork(at_sites *sites, at_site *site, stream *in)
{
    const at_variable n[] = {at_integer("n", 3)};
    const at_parameter block[] = {at_integers("block", blocks, 5)};
    at_site *made = NULL;
    at_site_report report;
    at_values v = {0};
    at_error error = {0};
    const bool refused =
        at_site_begin(site, in, &v, &error) == AT_USAGE && strstr(error.message, "is a fork") &&
        at_site_freeze(site, &error) == AT_USAGE && at_site_get(site, &report, &error) &&
        at_site_open(sites, "axpy", n, 1, block, 1, &made, &error) == AT_USAGE && !made;
    at_sites_close(sites);
    return refused ? 0 : 1;
}

TEST_IN(a_fork_opens_sites_of_its_own, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *decided = open_axpy(sites, 100), *site = open_axpy(sites, 5000);
    caller c = caller_of(11);
    call_until_decided(&c, decided, 100); /* its thread writes what is decided */
    call(&c, decided, 100);
    call(&c, site, 5000);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        _exit(use_in_fork(sites, site, &c.stream));
    int ended;
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    at_sites_close(sites);
}

static int ask_itself(void *context, const at_variable *values, size_t count)
{
    (void)values, (void)count;
    at_site *site = context;
    at_site_report report;
    at_values v;
    at_error error = {0};
    stream in = {0};
    assert_int_equal(at_site_get(site, &report, &error), AT_USAGE);
    assert_non_null(strstr(error.message, "called by `valid` of the same site, 'axpy'"));
    assert_int_equal(at_site_begin(site, &in, &v, &error), AT_USAGE);
    return 1;
}

TEST_IN(a_site_is_not_asked_by_its_own_valid, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *site = open_axpy(sites, 5000);
    at_error error = {0};
    at_values v;
    stream in = {0};
    assert_ok(at_site_restrict(site, ask_itself, site, &error), error);
    assert_ok(at_site_begin(site, &in, &v, &error), error);
    at_sites_close(sites);
}

/* ---- AUTOTUNE_SITES and the store ---- */

TEST_IN(what_was_decided_is_recalled, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(10);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    call_until_decided(&c, open_axpy(sites, 100), 100);
    at_sites_close(sites);
    sites = open_in(f->folder);
    static const int64_t sizes[] = {100, 5000};
    for (int i = 0; i < 2; i++) {
        at_site *site = open_axpy(sites, sizes[i]);
        c.timed = 0;
        call(&c, site, sizes[i]);
        assert_int_equal(report_of(site).state, AT_SITE_RECALLED);
        expect_best(site, sizes[i]);
        assert_int_equal(c.timed, 0);
    }
    assert_null(at_sites_problem(sites, 0));
    at_sites_close(sites);
}

TEST_IN(off_uses_defaults_and_use_makes_no_trials, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(11);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    at_sites_close(sites);
    setenv("AUTOTUNE_SITES", "off", 1);
    sites = open_in(f->folder);
    c.timed = 0;
    for (int i = 0; i < 1000; i++)
        call(&c, open_axpy(sites, 5000), 5000);
    assert_int_equal(report_of(open_axpy(sites, 5000)).values.items[0].integer, 128);
    at_sites_close(sites);
    setenv("AUTOTUNE_SITES", "use", 1);
    sites = open_in(f->folder);
    for (int i = 0; i < 1000; i++) {
        call(&c, open_axpy(sites, 5000), 5000);
        call(&c, open_axpy(sites, 100), 100);
    }
    expect_best(open_axpy(sites, 5000), 5000);
    assert_int_equal(report_of(open_axpy(sites, 100)).values.items[0].integer, 128);
    assert_int_equal(c.timed, 0);
    at_sites_close(sites);
}

static void expect_said(at_sites *sites, const char *text)
{
    at_error error = {0};
    at_site *site = open_axpy(sites, 5000);
    at_values v;
    stream s = {0};
    for (int i = 0; i < 3; i++) {
        assert_ok(at_site_begin(site, &s, &v, &error), error);
        assert_ok(at_site_end(site, &s, &v, &error), error);
    }
    assert_int_equal(report_of(site).state, AT_SITE_TUNING);
    const char *said = at_sites_problem(sites, 0);
    if (!said || !strstr(said, text))
        fail_msg("'%s' was said, not '%s'", said ? said : "", text);
    assert_null(at_sites_problem(sites, 1));
    at_sites_close(sites);
}

TEST_IN(what_is_stale_is_a_miss_that_is_said_once_and_stays, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(12);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    at_sites_close(sites);
    const arch_limits other = {.name = "NVIDIA L4", .major = 8, .minor = 9};
    const at_sites_options same = {.folder = f->folder, .code = "1"},
                           newer = {.folder = f->folder, .code = "2"};
    expect_said(open_for(&newer, &h200, "580", 0), "of code '1', this is '2'");
    expect_said(open_for(&same, &h200, "590", 0), "of driver '580', this is '590'");
    expect_said(open_for(&same, &other, "580", 0), "of 'NVIDIA H200', this is 'NVIDIA L4'");
    sites = open_in(f->folder);
    assert_int_equal(report_of(open_axpy(sites, 5000)).state, AT_SITE_RECALLED);
    at_sites_close(sites);
}

TEST_IN(versions_of_a_program_keep_their_decisions_beside_each_other, set_up, tear_down)
{
    fixture *f = *state;
    caller c = caller_of(13);
    static const char *const codes[] = {"1", "2"};
    for (int i = 0; i < 4; i++) {
        const at_sites_options options = {.folder = f->folder, .code = codes[i % 2]};
        at_sites *sites = open_for(&options, &h200, "580", 0);
        at_site *site = open_axpy(sites, 5000);
        if (i < 2)
            call_until_decided(&c, site, 5000);
        else
            assert_int_equal(report_of(site).state, AT_SITE_RECALLED);
        at_sites_close(sites);
    }
}

TEST_IN(other_values_in_the_list_are_a_miss, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    caller c = caller_of(14);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    at_sites_close(sites);
    sites = open_in(f->folder);
    const at_variable variables[] = {at_integer("n", 5000), at_text("type", "float")};
    const at_parameter parameters[] = {at_integers("block", blocks, 4), at_texts("way", ways, 2)};
    at_site *site = NULL;
    at_error error = {0};
    assert_ok(at_site_open(sites, "axpy", variables, 2, parameters, 2, &site, &error), error);
    assert_int_equal(report_of(site).state, AT_SITE_TUNING);
    assert_non_null(strstr(at_sites_problem(sites, 0), "other parameters or values"));
    at_sites_close(sites);
}

static void record_path_of(const fixture *f, char path[TEMPORARY_BYTES + 64])
{
    snprintf(path, TEMPORARY_BYTES + 64, "%s/nvidia-h200/axpy.json", f->folder);
}

TEST_IN(half_a_file_is_a_miss_and_is_put_aside_by_the_next_decision, set_up, tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + 64], aside[TEMPORARY_BYTES + 80], *text = NULL;
    size_t size_bytes;
    at_error error = {0};
    caller c = caller_of(15);
    at_sites *sites = open_in(f->folder);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    at_sites_close(sites);
    record_path_of(f, path);
    assert_ok(file_read(path, 1 << 20, &text, &size_bytes, &error), error);
    assert_ok(file_replace(path, text, size_bytes / 2, &error), error);
    free(text);
    expect_said(open_in(f->folder), "axpy.json");
    sites = open_in(f->folder);
    call_until_decided(&c, open_axpy(sites, 5000), 5000);
    at_sites_close(sites);
    snprintf(aside, sizeof aside, "%s.damaged", path);
    assert_int_equal(access(aside, F_OK), 0);
    sites = open_in(f->folder);
    assert_int_equal(report_of(open_axpy(sites, 5000)).state, AT_SITE_RECALLED);
    at_sites_close(sites);
}

TEST_IN(a_store_that_cannot_be_written_is_said_once, set_up, tear_down)
{
    fixture *f = *state;
    char path[TEMPORARY_BYTES + 64];
    at_error error = {0};
    snprintf(path, sizeof path, "%s/file", f->folder);
    assert_ok(file_replace(path, "", 0, &error), error);
    caller c = caller_of(16);
    at_sites *sites = open_in(path);
    at_site *site = open_axpy(sites, 5000);
    call_until_decided(&c, site, 5000);
    expect_best(site, 5000);
    call_until_decided(&c, open_axpy(sites, 100), 100);
    for (int i = 0; i < 3000 && !at_sites_problem(sites, 0); i++)
        usleep(1000);
    usleep(20000);
    assert_non_null(at_sites_problem(sites, 0));
    for (size_t i = 0; at_sites_problem(sites, i); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(at_sites_problem(sites, i), at_sites_problem(sites, k));
    at_sites_close(sites);
}

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

/* Ranks as threads: rank 0's bytes are given to the others at two barriers. */
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
    size_t used_count, used_again; /* after it was said to be invalid */
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
        /* All ranks find out in the same call. */
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

/* ---- the clocks ---- */

static void spin_ns(int64_t ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t until = t.tv_sec * 1000000000LL + t.tv_nsec + ns;
    do
        clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec * 1000000000LL + t.tv_nsec < until);
}

TEST_IN(code_of_the_host_is_timed_by_its_clock, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = NULL;
    at_site *site = NULL;
    at_error error = {0};
    const at_sites_options options = {
        .folder = f->folder, .clock = AT_SITE_CLOCK_HOST, .share = 0.5};
    static const int64_t times[] = {30000, 60000, 15000};
    const at_parameter ns = at_integers("ns", times, 3);
    assert_ok(at_sites_open(&options, &sites, &error), error);
    assert_ok(at_site_open(sites, "spin", NULL, 0, &ns, 1, &site, &error), error);
    for (int i = 0; i < 20000 && report_of(site).state == AT_SITE_TUNING; i++) {
        at_values v;
        assert_ok(at_site_begin(site, NULL, &v, &error), error);
        spin_ns(v.items[0].integer);
        assert_ok(at_site_end(site, NULL, &v, &error), error);
    }
    assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
    assert_int_equal(report_of(site).values.items[0].integer, 15000);
    at_sites_close(sites);
}
