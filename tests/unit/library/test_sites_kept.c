/* Tests how decisions of sites are stored, and how $AUTOTUNE_SITES controls their use. */
#include <unistd.h>

#include "base/file.h"

#include "sites_fixture.h"

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
    expect_said(open_for(&newer, &h200, "580", 0), "of code version '1', but this is '2'");
    expect_said(open_for(&same, &h200, "590", 0), "of driver '580', but this is driver '590'");
    expect_said(open_for(&same, &other, "580", 0), "of 'NVIDIA H200', but this is 'NVIDIA L4'");
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

TEST_IN(a_store_that_cannot_be_written_is_reported_once, set_up, tear_down)
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
