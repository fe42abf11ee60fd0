#include "report/curve.h"

#include <stdio.h>
#include <string.h>

#include "base/json_text.h"
#include "record/schema.h"

enum { FIGURE_DIGITS = 6 };

void curve_init(curve *c, const char *const *names, size_t count)
{
    *c = (curve){.over = json_array(), .points = json_array(), .words = json_array()};
    for (size_t i = 0; i < count; i++)
        json_append(&c->over, json_string(names[i]));
}

void curve_deinit(curve *c)
{
    json_decref(c->over);
    json_decref(c->points);
    json_decref(c->words);
    *c = (curve){0};
}

static json_t *known(double v)
{
    return v > 0 ? json_rounded(v, FIGURE_DIGITS) : json_null();
}

static void fill_head(curve *c, const run_summary *s)
{
    const char *ceiling = ceiling_get(s->ceiling)->name;
    if (c->pattern[0]) {
        if (strcmp(ceiling, c->ceiling) != 0)
            snprintf(c->ceiling, sizeof c->ceiling, "ceiling");
        return;
    }
    c->shown = run_summary_unit(s);
    work_rate_name(c->shown, s->item, c->unit);
    snprintf(c->ceiling, sizeof c->ceiling, "%s", ceiling);
    snprintf(c->pattern, sizeof c->pattern, "%s", s->pattern);
    snprintf(c->device, sizeof c->device, "%s", s->device.limits.name);
    c->predicted = s->device.predicted;
    c->warm_cache = s->warm_cache;
}

static json_t *pack_point(json_t *at, const run_summary *s, const run_result *best)
{
    const double gbps = best->rates[WORK_BYTES];
    return json_pack("{so so so sI s[I I] so so so so so so ss sI so}", "at", at, "problem",
                     record_pack_problem(s), "config",
                     json_from_values(s->parameters, best->values, s->parameter_count), "time_ns",
                     (json_int_t)best->time.median_ns, "ci_ns", (json_int_t)best->time.low_ns,
                     (json_int_t)best->time.high_ns, "gbps", known(gbps), "gflops",
                     known(best->rates[WORK_FLOPS]), "gitems", known(best->rates[WORK_ITEMS]),
                     "ceiling_fraction", known(best->ceiling_fraction), "speedup",
                     known(s->speedup), "baseline_gbps",
                     known(s->speedup > 0 ? gbps / s->speedup : 0), "verdict",
                     run_verdict_name(s->verdict), "tied", (json_int_t)s->tied_count, "record",
                     s->record_path[0] ? json_path(s->record_path) : json_null());
}

void curve_add(curve *c, const char *const *values, const run_summary *s, const char *why)
{
    const run_result *best = s ? run_summary_best(s) : NULL;
    json_t *at = json_object();
    if (s)
        fill_head(c, s);
    for (size_t i = 0; i < json_array_size(c->over); i++)
        json_put(&at, json_string_value(json_array_get(c->over, i)), json_said(values[i]));
    if (!best || best->time.count == 0) {
        json_append(&c->words, json_object());
        json_append(&c->points, json_pack("{so so}", "at", at, "message",
                                          json_said(why && *why ? why : "no variant worked")));
        return;
    }
    c->found++;
    json_append(&c->words,
                json_pack("{so so so}", "rate", json_exact(best->rates[c->shown]), "share",
                          json_exact(best->ceiling_fraction), "speedup", json_exact(s->speedup)));
    json_append(&c->points, pack_point(at, s, best));
}

json_t *curve_pack(const curve *c)
{
    return json_pack("{ss? ss? ss ss sb ss sO sO}", "pattern", c->pattern[0] ? c->pattern : NULL,
                     "device", c->pattern[0] ? c->device : NULL, "ceiling", c->ceiling, "rate_unit",
                     c->unit, "predicted", (int)c->predicted, "cache",
                     c->warm_cache ? "warm" : "cold", "over", c->over, "points", c->points);
}

json_t *curve_pack_words(const curve *c)
{
    return json_incref(c->words);
}
