/* A fixture with the sites of a program and a simulated timer. */
#ifndef AUTOTUNE_SITES_FIXTURE_H
#define AUTOTUNE_SITES_FIXTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autotune.h"
#include "base/rng.h"
#include "check.h"
#include "library/sites.h"
#include "temporary.h"

/* ---- a timer of streams, whose time the test sets ---- */

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
    int late;                         /* number of polls before a time is available */
    atomic_int marks;                 /* number of marks that were taken and not returned */
    void (*meanwhile)(void *context); /* called when a measurement begins; may be NULL */
    void *context;
    bool *closed;
} simulated;

static inline site_mark *sim_begin(site_timer *timer, void *in, bool *hidden)
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

static inline bool sim_end(site_timer *timer, site_mark *m, void *in, int64_t now_ns)
{
    (void)timer;
    (void)now_ns;
    const stream *s = in;
    m->time_ns = s->now_ns - m->begun_ns;
    return !s->captured;
}

static inline int sim_ask(site_timer *timer, site_mark *m, int64_t *time_ns)
{
    *time_ns = m->time_ns;
    return m->asked++ >= ((simulated *)timer)->late;
}

static inline void sim_give(site_timer *timer, site_mark *m)
{
    atomic_fetch_sub(&((simulated *)timer)->marks, 1);
    free(m);
}

static inline int64_t sim_host_ns(site_timer *timer)
{
    (void)timer;
    return 0;
}

static inline void sim_close(site_timer *timer)
{
    assert_int_equal(atomic_load(&((simulated *)timer)->marks), 0);
    free(timer);
}

static const site_timer_api sim_api = {sim_begin, sim_end,     sim_ask,
                                       sim_give,  sim_host_ns, sim_close};

static const arch_limits h200 = {.name = "NVIDIA H200", .major = 9};

static inline at_sites *open_for(const at_sites_options *options, const arch_limits *gpu,
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

static inline at_sites *open_in(const char *folder)
{
    return open_for(&(at_sites_options){.folder = folder, .code = "1"}, &h200, "580", 0);
}

/* ---- a program with a kernel "axpy", whose best block depends on n ---- */

static const int64_t blocks[] = {128, 64, 256, 512, 1024};
static const char *const ways[] = {"plain", "vector"};

static inline at_site *open_axpy(at_sites *sites, int64_t n)
{
    const at_variable variables[] = {at_integer("n", n), at_text("type", "float")};
    const at_parameter parameters[] = {at_integers("block", blocks, 5), at_texts("way", ways, 2)};
    at_site *site = NULL;
    at_error error = {0};
    assert_ok(at_site_open(sites, "axpy", variables, 2, parameters, 2, &site, &error), error);
    return site;
}

static inline double axpy_ns(int64_t n, const at_variable *v)
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

static inline caller caller_of(uint64_t seed)
{
    return (caller){.random = rng_seeded(seed)};
}

static inline void call(caller *c, at_site *site, int64_t n)
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

static inline at_site_report report_of(at_site *site)
{
    at_site_report report;
    at_error error = {0};
    assert_ok(at_site_get(site, &report, &error), error);
    return report;
}

static inline void call_until_decided(caller *c, at_site *site, int64_t n)
{
    for (int i = 0; i < 100000 && report_of(site).state == AT_SITE_TUNING; i++)
        call(c, site, n);
    assert_int_equal(report_of(site).state, AT_SITE_DECIDED);
}

static inline void expect_best(at_site *site, int64_t n)
{
    at_site_report r = report_of(site);
    assert_int_equal(r.values.items[0].integer, n < 1000 ? 64 : n < 100000 ? 256 : 1024);
    assert_string_equal(r.values.items[1].text, "vector");
}

typedef struct fixture {
    char folder[TEMPORARY_BYTES];
} fixture;

static inline int set_up(void **state)
{
    static fixture f;
    temporary_make(f.folder);
    unsetenv("AUTOTUNE_SITES");
    *state = &f;
    return 0;
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    temporary_remove(f->folder);
    unsetenv("AUTOTUNE_SITES");
    return 0;
}

#endif
