/* Tests calls of a program's sites. */
#include <sys/wait.h>
#include <unistd.h>

#include "sites_fixture.h"

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
    /* The second call begins before the first call ends, and ends after the first. */
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
    int64_t most = 64; /* excludes even the default, 128 */
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

/* Makes one call. The launch fails if the configuration is invalid. */
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

TEST_IN(a_stored_choice_that_is_invalid_is_tuned_again, set_up, tear_down)
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

TEST_IN(a_stored_choice_that_the_program_forbids_is_tuned_again, set_up, tear_down)
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

TEST_IN(mistakes_in_the_input_are_named, set_up, tear_down)
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

/* ---- mistakes in calls of sites ---- */

TEST_IN(a_call_ends_once, set_up, tear_down)
{
    fixture *f = *state;
    /* The sites' times are known at once, or late. If they are late, a second at_site_end()
     * could end a longer call. */
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
                assert_non_null(strstr(error.message, "'axpy' has already ended"));
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
            assert_non_null(strstr(error.message, "do not belong to the site 'axpy'"));
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
    /* A program may open the site again with the last choice as the default. */
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
        assert_non_null(strstr(error.message, "'axpy' was already opened with other parameters"));
        assert_null(again);
    }
    assert_int_equal(at_site_open(sites, "axpy", n, 1, is, 2, &again, &error), AT_USAGE);
    at_sites_close(sites);
}

/* A thread may never end a call, for example after an exception. The call is given up later. */
TEST_IN(calls_that_never_end_block_nothing, set_up, tear_down)
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

TEST_IN(a_call_in_which_a_capture_begins_is_not_timed, set_up, tear_down)
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

/* Makes calls that a forked process may make on inherited sites. */
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

TEST_IN(a_fork_opens_its_own_sites, set_up, tear_down)
{
    fixture *f = *state;
    at_sites *sites = open_in(f->folder);
    at_site *decided = open_axpy(sites, 100), *site = open_axpy(sites, 5000);
    caller c = caller_of(11);
    call_until_decided(&c, decided, 100); /* a thread of the site writes decisions */
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
