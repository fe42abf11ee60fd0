/* autotune portfolio: finds a few configurations for a range of problems, and a tree that chooses
 * among them by problem. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "cmd/line/series.h"
#include "run/portfolio/portfolio.h"

enum { PERCENT_DIGITS = 4 };

static const char units[] = "KMG";

typedef struct ranges {
    portfolio_axis axes[PORTFOLIO_MAX_AXES];
    size_t count;
    series lists[PORTFOLIO_MAX_AXES];
    value *values[PORTFOLIO_MAX_AXES]; /* owned */
} ranges;

static void ranges_deinit(ranges *r)
{
    for (size_t i = 0; i < PORTFOLIO_MAX_AXES; i++) {
        series_deinit(&r->lists[i]);
        free(r->values[i]);
    }
}

/* Reads a number such as "256" or "16K". Returns the text after it, or NULL. */
static const char *read_bound(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : -1;
    if (v < 1 || errno)
        return NULL;
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *u = units; unit && u <= unit; u++) {
        if (v > INT64_MAX / 1024)
            return NULL;
        v *= 1024;
    }
    *out = v;
    return unit ? end + 1 : end;
}

/* Reads LO..HI. Returns false for other text. */
static bool read_range(const char *text, portfolio_axis *axis)
{
    const char *rest = read_bound(text, &axis->least);
    if (!rest || strncmp(rest, "..", 2) != 0 || rest[2] == '.')
        return false;
    rest = read_bound(rest + 2, &axis->most);
    return rest && *rest == '\0' && axis->least <= axis->most;
}

static at_status read_list(const char *name, const char *text, series *list, value **values,
                           portfolio_axis *axis, at_error *error)
{
    at_status status = series_parse(name, text, list, error);
    if (status)
        return status;
    *values = memory_new(list->count + 1, sizeof **values);
    for (size_t i = 0; i < list->count; i++)
        (*values)[i] = value_parse(list->texts[i]);
    axis->values = *values;
    axis->value_count = list->count;
    return AT_OK;
}

static at_status ranges_init(ranges *r, const options *o, at_error *error)
{
    at_status status =
        series_check(o, "portfolio", "NAME=LO..HI or NAME=V1,V2,...", PORTFOLIO_MAX_AXES, error);
    if (status)
        return status;
    for (size_t i = 0; i < o->sweep_count; i++) {
        const char *name = o->sweeps[i].name, *text = o->sweeps[i].text;
        portfolio_axis *axis = &r->axes[r->count++];
        axis->name = name;
        if (read_range(text, axis))
            continue;
        const char *dots = strstr(text, "..");
        if (dots && dots[2] != '.')
            return error_set(
                error, AT_USAGE,
                "--over %s=%s: a range is LO..HI, of whole numbers from 1 on, the lower one "
                "first",
                name, text);
        status = read_list(name, text, &r->lists[i], &r->values[i], axis, error);
        if (status)
            return status;
    }
    return AT_OK;
}

static json_t *pack_regret(const portfolio_regret *r)
{
    return json_pack("{sI so so sI}", "problems", (json_int_t)r->count, "mean",
                     json_rounded(r->mean, PERCENT_DIGITS), "worst",
                     json_rounded(r->worst, PERCENT_DIGITS), "slower_than_default",
                     (json_int_t)r->slower);
}

static json_t *pack_over(const ranges *r)
{
    json_t *over = json_object();
    for (size_t i = 0; i < r->count; i++) {
        const portfolio_axis *axis = &r->axes[i];
        json_t *divisors = json_array(), *values = axis->value_count ? json_array() : NULL;
        for (size_t d = 0; d < axis->divisor_count; d++)
            json_append(&divisors, json_integer(axis->divisors[d]));
        for (size_t v = 0; v < axis->value_count; v++)
            json_append(&values, json_from_value(axis->values[v]));
        json_put(&over, axis->name,
                 axis->value_count
                     ? json_pack("{so so}", "values", values, "divisors", divisors)
                     : json_pack("{sI sI so}", "least", (json_int_t)axis->least, "most",
                                 (json_int_t)axis->most, "divisors", divisors));
    }
    return over;
}

static json_t *pack_tried(const portfolio_tried *t, const ranges *r)
{
    json_t *problem = json_object();
    for (size_t a = 0; a < r->count; a++)
        json_put(&problem, r->axes[a].name, json_from_value(t->values[a]));
    json_t *object = json_pack("{so sb sb}", "problem", problem, "held_out", t->held_out,
                               "searched", t->searched);
    if (t->left_out) {
        json_put(&object, "left_out", json_foreign_text(t->left_out));
        return object;
    }
    json_put(&object, "rule", t->rule ? json_string(t->rule) : json_null());
    if (t->place != SIZE_MAX)
        json_put(&object, "place", json_integer((json_int_t)t->place));
    json_put(&object, "best_ns", json_integer(t->best_ns));
    if (t->baseline_ns)
        json_put(&object, "baseline_ns", json_integer(t->baseline_ns));
    if (t->time_ns) {
        json_put(&object, "time_ns", json_integer(t->time_ns));
        json_put(&object, "regret", json_rounded(t->regret, PERCENT_DIGITS));
    }
    return object;
}

/* Packs data that only the text needs: exact figures and remarks. */
static json_t *pack_words(const portfolio_found *f, const ranges *r)
{
    json_t *axes = json_array(), *tried = json_array();
    for (size_t i = 0; i < r->count; i++) {
        json_t *texts = json_array();
        for (size_t v = 0; v < r->axes[i].value_count; v++)
            json_append(&texts, json_string(r->lists[i].texts[v]));
        json_append(&axes, json_pack("{ss so}", "name", r->axes[i].name, "texts", texts));
    }
    for (size_t i = 0; i < f->tried_count; i++)
        json_append(&tried, json_pack("{so sI}", "regret", json_exact(f->tried[i].regret),
                                      "time_ns", (json_int_t)f->tried[i].time_ns));
    return json_pack("{so so s[[o o] [o o]] so so sb so}", "axes", axes, "exact", tried, "regrets",
                     json_exact(f->held_out.mean), json_exact(f->held_out.worst),
                     json_exact(f->made_on.mean), json_exact(f->made_on.worst), "single",
                     json_exact(f->single_mean), "exact_s", json_exact(f->wall_s), "out_of_budget",
                     (int)f->out_of_budget, "refused_why", json_foreign_text(f->refused_why));
}

static at_status print(const options *o, const portfolio_found *f, const ranges *r, at_error *error)
{
    char *text;
    json_t *whole = NULL, *tried = json_array();
    at_status status = draft_format(&f->draft, &text, error);
    if (!status)
        status = json_text_parse(text, strlen(text), "the portfolio", &whole, error);
    if (status) {
        json_decref(tried);
        return status;
    }
    free(text);
    for (size_t i = 0; i < f->tried_count; i++)
        json_append(&tried, pack_tried(&f->tried[i], r));
    json_t *root =
        json_pack("{ss ss sb so so so so so sO so sI so}", "pattern", f->draft.pattern, "device",
                  f->device.limits.name, "predicted", f->device.predicted, "over", pack_over(r),
                  "held_out", pack_regret(&f->held_out), "made_on", pack_regret(&f->made_on),
                  "single_mean", json_rounded(f->single_mean, PERCENT_DIGITS), "tried", tried,
                  "portfolio", json_array_get(json_object_get(whole, "portfolios"), 0), "refused",
                  json_integer((json_int_t)f->refused), "evaluations", (json_int_t)f->evaluations,
                  "wall_s", json_rounded(f->wall_s, PERCENT_DIGITS));
    json_decref(whole);
    if (*f->record_path)
        json_put(&root, "record", json_path(f->record_path));
    return page_show(o, "portfolio", 2, root, o->json ? NULL : pack_words(f, r), error);
}

static at_status run(const options *o, at_error *error)
{
    ranges r = {.count = 0};
    portfolio *p = NULL;
    at_status status = ranges_init(&r, o, error);
    const portfolio_asked asked = {.run = &o->run,
                                   .axes = r.axes,
                                   .axis_count = r.count,
                                   .problem_count = o->problems,
                                   .held_out = o->held_out,
                                   .most = o->max};
    if (!status)
        status = portfolio_make(&asked, &p, error);
    if (!status)
        status = print(o, portfolio_get_found(p), &r, error);
    portfolio_free(p);
    ranges_deinit(&r);
    return status;
}

const command cmd_portfolio = {
    .name = "portfolio",
    .operand = "SCRIPT",
    .summary = "Tune over a range of problems, and keep few configurations that serve it",
    .options =
        "describe set include only over problems held-out max device strategy budget effort seed "
        "finals tie prove "
        "jobs cache no-cache json quiet results record no-record",
    .run = run,
};
