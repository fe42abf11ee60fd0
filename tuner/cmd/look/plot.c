#include "cmd/look/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "cmd/line/gnuplot.h"
#include "cmd/line/page.h"
#include "cmd/look/roofline.h"
#include "history/importance.h"

enum { VALUE_BYTES = 96, LEAST_RANKED = 3, MOST_CELLS = 10000 };

/* The state of a drawing, which is over one or two parameters. */
typedef struct drawing {
    const recorded *r;
    const plot_request *q;
    importance important;
    size_t by[2];
    size_t *works; /* results with a cost, best first */
    size_t count;
    bool rates;      /* GB/s are known: higher is better; else times */
    json_t *picture; /* owned; what the template is given */
} drawing;

/* ---- levels: the values of a parameter ---- */

/* A value of what works, of which `rank` were better. */
typedef struct level {
    const value *v;
    size_t rank;
} level;

static int compare_levels(const void *a, const void *b)
{
    const level *x = a, *y = b;
    int order = value_compare(*x->v, *y->v);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* {name, levels [value] (ascending), of [place among the levels] (of each that works)}. */
static json_t *pack_levels(const drawing *d, size_t parameter, size_t *count)
{
    level *all = memory_new(d->count, sizeof *all);
    size_t *of = memory_new(d->count, sizeof *of);
    json_t *levels = json_array(), *places = json_array();
    for (size_t i = 0; i < d->count; i++)
        all[i] = (level){&d->r->results[d->works[i]].values[parameter], i};
    qsort(all, d->count, sizeof *all, compare_levels);
    *count = 0;
    for (size_t i = 0; i < d->count; i++) {
        if (i == 0 || !value_equal(*all[i].v, *all[i - 1].v)) {
            json_append(&levels, json_from_value(*all[i].v));
            ++*count;
        }
        of[all[i].rank] = *count;
    }
    for (size_t i = 0; i < d->count; i++)
        json_append(&places, json_integer((json_int_t)of[i]));
    free(all);
    free(of);
    return json_pack("{ss so so}", "name", d->r->names[parameter], "levels", levels, "of", places);
}

/* ---- what each kind draws, beside the figures ---- */

static at_status pack_first(drawing *d, at_error *error)
{
    size_t count;
    (void)error;
    json_put(&d->picture, "by", pack_levels(d, d->by[0], &count));
    return AT_OK;
}

static at_status pack_both(drawing *d, at_error *error)
{
    size_t rows, columns;
    json_put(&d->picture, "down", pack_levels(d, d->by[0], &rows));
    json_put(&d->picture, "across", pack_levels(d, d->by[1], &columns));
    if ((double)rows * (double)columns > MOST_CELLS)
        return error_set(
            error, AT_USAGE,
            "%zu by %zu values are more than a heatmap has room for; --by NAME,NAME chooses "
            "others",
            rows, columns);
    return AT_OK;
}

/* Packs the steps at which the best time so far fell, in the order in which variants were tried. */
static at_status pack_steps(drawing *d, at_error *error)
{
    double best = INFINITY;
    json_t *steps = json_array();
    if (d->r->ranked) {
        json_decref(steps);
        return error_set(error, AT_NOT_FOUND,
                         "a run's --json lists its results by rank, not in the order in which "
                         "they were tried: draw its journal instead");
    }
    for (size_t i = 0; i < d->r->result_count; i++) {
        size_t at = d->r->newest_first ? d->r->result_count - 1 - i : i;
        if (d->r->results[at].outcome == OUTCOME_OK && d->r->results[at].cost < best) {
            best = d->r->results[at].cost;
            json_append(&steps, json_pack("[I, o]", (json_int_t)i + 1, json_exact(best * 1e3)));
        }
    }
    json_append(&steps,
                json_pack("[I, o]", (json_int_t)d->r->result_count, json_exact(best * 1e3)));
    json_put(&d->picture, "steps", steps);
    return AT_OK;
}

/* Packs the bytes that each spills, false where they are not known. */
static at_status pack_spills(drawing *d, at_error *error)
{
    size_t points = 0;
    json_t *spills = json_array();
    for (size_t i = 0; i < d->count; i++) {
        const recorded_result *r = &d->r->results[d->works[i]];
        json_append(&spills, r->has_resources ? json_integer(r->spill_bytes) : json_false());
        points += r->has_resources;
    }
    json_put(&d->picture, "spills", spills);
    if (points == 0)
        return error_set(error, AT_NOT_FOUND,
                         "this file does not say what a variant spills: what a run prints with "
                         "--json --top 1000000 does, and its journal");
    return AT_OK;
}

static at_status pack_roofs(drawing *d, at_error *error)
{
    return roofline_pack(d->r, d->works, d->count, d->q->ceilings, &d->picture, error);
}

static at_status pack_shares(drawing *d, at_error *error)
{
    json_t *shares = json_array();
    (void)error;
    for (size_t i = 0; i < d->important.parameter_count; i++) {
        const importance_parameter *p = &d->important.parameters[i];
        json_append(&shares, json_pack("{ss so so}", "name", d->r->names[p->parameter], "alone",
                                       json_exact(p->alone), "total", json_exact(p->total)));
    }
    json_put(&d->picture, "shares", shares);
    return AT_OK;
}

static const struct {
    const char *name;
    size_t parameters;
    at_status (*pack)(drawing *d, at_error *error);
    bool of_few;  /* of a record, which holds the best few alone, too */
    bool as_text; /* in the terminal, instead of by gnuplot */
} kinds[] = {
    {"rank", 1, pack_first, true, false},        {"heatmap", 2, pack_both, false, true},
    {"sweep", 1, pack_first, false, false},      {"convergence", 0, pack_steps, false, false},
    {"roofline", 0, pack_roofs, true, false},    {"spill", 0, pack_spills, false, false},
    {"importance", 0, pack_shares, false, true},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Finds the results that work, best first. */
static void find_works(drawing *d)
{
    const recorded_result **list = memory_have(recorded_rank(d->r, &d->count));
    d->works = memory_new(d->count, sizeof *d->works);
    for (size_t i = 0; i < d->count; i++) {
        d->works[i] = (size_t)(list[i] - d->r->results);
        d->rates = d->rates && list[i]->rate > 0;
    }
    free(list);
}

static at_status find_by(drawing *d, const char *name, size_t length, size_t *out, at_error *error)
{
    char word[VALUE_BYTES];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t p = 0; p < d->r->parameter_count; p++)
        if (strcmp(word, d->r->names[p]) == 0) {
            *out = p;
            return AT_OK;
        }
    const char *nearest = nearest_name(word, d->r->names, d->r->parameter_count);
    return error_set(error, AT_USAGE, "no parameter is called '%s'%s%s", word,
                     nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* Chooses the parameters that were asked for, else the one that decides most by itself, or the pair
 * that does together. */
static at_status choose_by(drawing *d, size_t wanted, at_error *error)
{
    const importance *m = &d->important;
    if (wanted && m->parameter_count < wanted)
        return error_set(error, AT_NOT_FOUND, "%zu parameter%s must vary to draw this", wanted,
                         wanted > 1 ? "s" : "");
    size_t most = 0;
    for (size_t i = 0; i < m->parameter_count; i++)
        if (m->parameters[i].alone > m->parameters[most].alone)
            most = i;
    if (wanted == 1)
        d->by[0] = m->parameters[most].parameter;
    if (wanted == 2) {
        d->by[0] = m->pairs[0].a;
        d->by[1] = m->pairs[0].b;
    }
    if (!d->q->by)
        return AT_OK;
    size_t length = strcspn(d->q->by, ",");
    at_status status = find_by(d, d->q->by, length, &d->by[0], error);
    if (!status && wanted == 2 && !d->q->by[length])
        return error_set(error, AT_USAGE,
                         "--by takes two parameters for this, such as tile_x,tile_y");
    if (!status && wanted == 2)
        status = find_by(d, d->q->by + length + 1, strlen(d->q->by + length + 1), &d->by[1], error);
    return status;
}

/* Adds what every kind is given: the figures of what works, and of the ceiling and the baseline. */
static void put_figures(drawing *d)
{
    static const char *const formats[] = {"svg", "png", "terminal"};
    const recorded *r = d->r;
    const ceiling_info *ceiling = ceiling_get(r->ceiling);
    json_t *costs = json_array(), *rates = json_array();
    char of[WORK_RATE_BYTES];
    bool alike = d->rates && (ceiling->unit == WORK_ITEMS ||
                              strcmp(work_rate_name(ceiling->unit, NULL, of), r->rate_unit) == 0);
    for (size_t i = 0; i < d->count; i++) {
        json_append(&costs, json_exact(r->results[d->works[i]].cost));
        if (d->rates)
            json_append(&rates, json_exact(r->results[d->works[i]].rate));
    }
    d->picture = json_pack(
        "{ss so ss? ss so so so so}", "format", formats[d->q->format], "title",
        json_string_nocheck(d->q->title), "rate_unit", d->rates ? r->rate_unit : NULL, "objective",
        r->objective, "costs", costs, "rates", rates, "baseline_rate",
        json_exact(d->rates ? r->baseline_rate : 0), "ceiling",
        alike && r->ceiling_rate > 0
            ? json_pack("{so ss}", "rate", json_exact(r->ceiling_rate), "words", ceiling->words)
            : json_null());
}

static at_status find_kind(const recorded *r, const plot_request *q, size_t *kind, at_error *error)
{
    const char *names[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        names[i] = kinds[i].name;
    for (*kind = 0; *kind < KINDS && strcmp(names[*kind], q->kind) != 0;)
        ++*kind;
    if (*kind == KINDS) {
        const char *nearest = nearest_name(q->kind, names, KINDS);
        return error_set(error, AT_USAGE,
                         "there is no kind '%s'%s%s; they are rank, heatmap, sweep, convergence, "
                         "roofline, spill and importance",
                         q->kind, nearest ? ": did you mean " : "", nearest ? nearest : "");
    }
    if (r->is_record && !kinds[*kind].of_few)
        return error_set(
            error, AT_NOT_FOUND,
            "a record holds the best few and the default, of which rank and roofline can be "
            "drawn: for '%s' draw what 'autotune SCRIPT --json --top 1000000' prints, "
            "or the run's journal",
            q->kind);
    if (kinds[*kind].pack == pack_first && kinds[*kind].of_few && r->result_count < LEAST_RANKED)
        return error_set(
            error, AT_NOT_FOUND,
            "this record keeps the winner and the default alone: the measured space is in "
            "what 'autotune SCRIPT --json --top 1000000' prints, and in the run's journal");
    return AT_OK;
}

/* Text for gnuplot, or the picture itself. */
static at_status write_program(const recorded *r, const plot_request *q, size_t kind, char **text,
                               at_error *error)
{
    drawing d = {.r = r, .q = q, .rates = true};
    char page[32];
    find_works(&d);
    at_status status = importance_of(r, &d.important, error);
    if (!status)
        status = choose_by(&d, kinds[kind].parameters, error);
    if (!status) {
        put_figures(&d);
        status = kinds[kind].pack(&d, error);
    }
    snprintf(page, sizeof page, "plot_%s", kinds[kind].name);
    if (!status)
        status = page_text(page, json_incref(d.picture), NULL, text, error);
    json_decref(d.picture);
    importance_deinit(&d.important);
    free(d.works);
    return status;
}

at_status plot_draw(const recorded *r, const plot_request *q, char **picture, size_t *size_bytes,
                    at_error *error)
{
    char *program = NULL;
    size_t kind;
    *picture = NULL;
    *size_bytes = 0;
    at_status status = find_kind(r, q, &kind, error);
    if (!status)
        status = write_program(r, q, kind, &program, error);
    if (!status && q->format == PLOT_TERMINAL && kinds[kind].as_text) {
        *picture = program;
        *size_bytes = strlen(program);
        return AT_OK;
    }
    if (!status)
        status = gnuplot_run(program, strlen(program), picture, size_bytes, error);
    /* The first page for the terminal begins a new sheet. */
    if (!status && (*picture)[0] == '\f')
        (*picture)[0] = '\n';
    free(program);
    return status;
}
