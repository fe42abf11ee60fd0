/* autotune mix: finds the configuration with the least total time for all captured launches of a
 * kernel. Each launch counts as often as the program makes it.
 *
 * Each launch is tuned and recorded. Then the best configurations of all launches, and the
 * baseline, are timed on every launch. The winner is recorded as a portfolio of one configuration.
 * 'autotune apply --captured DIR' writes it into the file. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "capture/capture.h"
#include "cmd/line/options.h"
#include "cmd/line/page.h"
#include "record/merge.h"
#include "run/portfolio/known.h"
#include "run/setup/workers.h"
#include "run/tune.h"

/* KEPT configurations of each launch are timed on all launches, with SAMPLES samples each. */
enum { KEPT = 6, SAMPLES = 25, MOST_LAUNCHES = 16, MOST_TRIED = KEPT * MOST_LAUNCHES + 1 };
enum { NAME_BYTES = 4096 };

typedef struct mixed_launch {
    char name[NAME_BYTES]; /* "DIR:2" */
    captured_launch captured;
    record_values problem;  /* owned */
    int64_t own_ns;         /* fastest time when this launch was tuned */
    int64_t ns[MOST_TRIED]; /* time of each tried configuration; 0 if it does not work */
} mixed_launch;

typedef struct mix {
    const options *o;
    workers workers;
    size_t launch_count, tried_count, recorded_count;
    mixed_launch *launches;           /* owned */
    char *tried[MOST_TRIED];          /* configurations, the baseline first; owned */
    record_values values[MOST_TRIED]; /* the values of `tried`; owned */
    char pattern[128], script_hash[33], template_hash[33];
    arch_limits device;
    bool predicted;
    char record_path[PATH_MAX]; /* "" if nothing is recorded */
    at_error *error;
} mix;

static at_status open_launches(mix *m)
{
    const char *dir = m->o->run.pattern.captured;
    size_t count;
    at_status status = captured_count(dir, &count, m->error);
    if (!status && count > MOST_LAUNCHES)
        count = MOST_LAUNCHES;
    if (!status && count == 0)
        status =
            error_set(m->error, AT_NOT_FOUND,
                      "%s has no captured launch: run 'autotune capture -o %s --kernel NAME "
                      "--shapes 16 -- PROGRAM', which captures a launch of each grid and block",
                      dir, dir);
    m->launches = memory_new(count, sizeof *m->launches);
    for (size_t k = 0; !status && k < count; k++) {
        mixed_launch *l = &m->launches[k];
        snprintf(l->name, sizeof l->name, "%s:%zu", dir, k + 1);
        status = captured_read(l->name, &l->captured, m->error);
        m->launch_count += !status;
    }
    return status;
}

static void add_tried(mix *m, const run_summary *s, const run_result *r)
{
    for (size_t i = 0; i < m->tried_count; i++)
        if (strcmp(m->tried[i], r->configuration) == 0)
            return;
    if (m->tried_count == MOST_TRIED)
        return;
    record_values *own = &m->values[m->tried_count];
    own->pairs = memory_new(s->parameter_count, sizeof *own->pairs);
    for (size_t i = 0; i < s->parameter_count; i++)
        known_values_add(own, s->parameters[i], r->values[i]);
    m->tried[m->tried_count++] = memory_text(r->configuration);
}

static bool works(const run_result *r)
{
    return r->found.outcome == OUTCOME_OK && r->time.count > 0;
}

static void note_run(mix *m, const run_summary *s)
{
    snprintf(m->pattern, sizeof m->pattern, "%s", s->pattern);
    memcpy(m->script_hash, s->script_hash, sizeof m->script_hash);
    memcpy(m->template_hash, s->template_hash, sizeof m->template_hash);
    m->device = s->device.limits;
    m->predicted = s->device.predicted;
}

static void show_launch(const mix *m, const char *what, const mixed_launch *l)
{
    if (!m->o->run.quiet)
        fprintf(stderr, "%s %s, %llu launches\n", what, l->name,
                (unsigned long long)l->captured.count);
}

/* Runs one launch's tuning. A failed run ends the command. */
static at_status run(mix *m, const settings *asked, tune **out)
{
    at_status status = tune_run(asked, out, m->error);
    if (status || !*out)
        return status;
    note_run(m, tune_summary(*out));
    return AT_OK;
}

static settings settings_of(mix *m, const mixed_launch *l)
{
    settings asked = m->o->run;
    asked.pattern.captured = l->name;
    asked.machine.workers = &m->workers;
    return asked;
}

static at_status tune_alone(mix *m, mixed_launch *l)
{
    settings asked = settings_of(m, l);
    tune *t = NULL;
    show_launch(m, "tuning", l);
    at_status status = run(m, &asked, &t);
    const run_summary *s = t ? tune_summary(t) : NULL;
    m->recorded_count += s && s->record_path[0];
    if (!status && s) {
        l->problem.pairs = memory_new(s->problem_count, sizeof *l->problem.pairs);
        for (size_t i = 0; i < s->problem_count; i++)
            known_values_add(&l->problem, s->problem[i].name, s->problem[i].value);
    }
    if (!status && s && s->has_baseline)
        add_tried(m, s, &s->results[s->baseline]);
    for (size_t i = 0; !status && s && i < s->result_count && i < KEPT; i++)
        if (works(&s->results[i])) {
            add_tried(m, s, &s->results[i]);
            if (l->own_ns == 0)
                l->own_ns = s->results[i].time.median_ns;
        }
    tune_free(t);
    return status;
}

/* Times all configurations on one launch, without a race, which would drop slow configurations. */
static at_status time_all(mix *m, mixed_launch *l)
{
    settings asked = settings_of(m, l);
    tune *t = NULL;
    asked.search.starts = (const char *const *)m->tried;
    asked.search.start_count = m->tried_count;
    asked.search.budget_evaluations = m->tried_count + 1;
    asked.search.budget_s = 0;
    asked.search.has_effort = false;
    asked.search.counts_twins = true;
    asked.results.record = asked.results.must_record =
        false; /* the tuning of this launch made a better record, from a race */
    asked.race.fixed_samples = SAMPLES;
    show_launch(m, "timing", l);
    at_status status = run(m, &asked, &t);
    const run_summary *s = t ? tune_summary(t) : NULL;
    for (size_t i = 0; !status && s && i < s->result_count; i++)
        for (size_t c = 0; c < m->tried_count; c++)
            if (works(&s->results[i]) && strcmp(m->tried[c], s->results[i].configuration) == 0)
                l->ns[c] = s->results[i].time.median_ns;
    tune_free(t);
    return status;
}

/* Returns the total time of the program's launches with configuration `c`; 0 if a launch fails. */
static double total_ns(const mix *m, size_t c)
{
    double sum = 0;
    for (size_t k = 0; k < m->launch_count; k++) {
        if (m->launches[k].ns[c] == 0)
            return 0;
        sum += (double)m->launches[k].captured.count * (double)m->launches[k].ns[c];
    }
    return sum;
}

static bool find_best(const mix *m, size_t *best)
{
    double least = 0;
    for (size_t c = 0; c < m->tried_count; c++) {
        const double ns = total_ns(m, c);
        if (ns > 0 && (least == 0 || ns < least)) {
            least = ns;
            *best = c;
        }
    }
    return least > 0;
}

/* Records the winner as a portfolio, so that it is picked for problems without an entry. */
static at_status record_mix(mix *m, size_t best)
{
    char date[32];
    run_summary_date(date, sizeof date);
    record_node leaf = {.has_default = total_ns(m, 0) > 0, .default_at = best == 0 ? 0 : 1};
    const record_portfolio kept = {.configuration_count = 1,
                                   .configurations = &m->values[best],
                                   .node_count = 1,
                                   .nodes = &leaf,
                                   .date = date};
    draft_problem rows[MOST_LAUNCHES];
    for (size_t k = 0; k < m->launch_count; k++)
        rows[k] = (draft_problem){.problem = m->launches[k].problem,
                                  .baseline_ns = m->launches[k].ns[0],
                                  .times_ns = &m->launches[k].ns[best]};
    const portfolio_draft draft = {.pattern = m->pattern,
                                   .gpu = &m->device,
                                   .portfolio = &kept,
                                   .problem_count = m->launch_count,
                                   .problems = rows,
                                   .script_hash = m->script_hash,
                                   .template_hash = m->template_hash};
    if (!m->o->run.results.record || m->predicted)
        return AT_OK;
    return draft_merge(m->o->run.results.results_dir, &draft, m->record_path, sizeof m->record_path,
                       m->error);
}

static json_t *sides(const uint32_t v[3])
{
    return json_pack("[III]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *pack_mix(const mix *m, size_t best)
{
    json_t *launches = json_array();
    double own = 0;
    for (size_t k = 0; k < m->launch_count; k++) {
        const mixed_launch *l = &m->launches[k];
        own += (double)l->captured.count * (double)l->own_ns;
        json_append(&launches,
                    json_pack("{so so sI sI sI sI}", "grid", sides(l->captured.grid), "block",
                              sides(l->captured.block), "count", (json_int_t)l->captured.count,
                              "baseline_ns", (json_int_t)l->ns[0], "mix_ns",
                              (json_int_t)l->ns[best], "own_ns", (json_int_t)l->own_ns));
    }
    const double base = total_ns(m, 0), total = total_ns(m, best);
    json_t *root = json_pack(
        "{ss so ss sb so sI so so so so sI}", "pattern", m->pattern, "captured",
        json_path(m->o->run.pattern.captured), "device", m->device.name, "predicted", m->predicted,
        "config", record_pack_values(&m->values[best]), "tried", (json_int_t)m->tried_count,
        "launches", launches, "total_ns", json_exact(total), "own_total_ns", json_exact(own),
        "speedup", base > 0 ? json_rounded(base / total, 6) : json_null(), "recorded",
        (json_int_t)m->recorded_count);
    json_put(&root, "record", *m->record_path ? json_path(m->record_path) : json_null());
    return root;
}

static void deinit(mix *m)
{
    for (size_t i = 0; i < m->tried_count; i++) {
        free(m->tried[i]);
        known_values_deinit(&m->values[i]);
    }
    for (size_t k = 0; k < m->launch_count; k++) {
        captured_deinit(&m->launches[k].captured);
        known_values_deinit(&m->launches[k].problem);
    }
    free(m->launches);
    workers_close(&m->workers);
}

static at_status answer(const options *o, int *exit_code, at_error *error)
{
    mix m = {.o = o, .error = error};
    size_t best = 0;
    if (!o->run.pattern.captured)
        return error_set(error, AT_USAGE,
                         "--captured DIR is missing, the folder of the launches: 'autotune capture "
                         "-o DIR --kernel NAME --shapes 16 -- PROGRAM' makes one");
    at_status status = open_launches(&m);
    for (size_t k = 0; !status && k < m.launch_count; k++)
        status = tune_alone(&m, &m.launches[k]);
    for (size_t k = 0; !status && k < m.launch_count; k++)
        status = time_all(&m, &m.launches[k]);
    if (!status && !find_best(&m, &best)) {
        *exit_code = 1;
        fputs("autotune: no configuration works for all of the launches\n", stderr);
    } else if (!status) {
        status = record_mix(&m, best);
    }
    if (!status && *exit_code == 0) {
        status = page_show(o, "mix", 2, pack_mix(&m, best), NULL, error);
    }
    deinit(&m);
    return status;
}

const command cmd_mix = {
    .name = "mix",
    .operand = "SCRIPT",
    .summary = "Find the configuration that serves all captured launches of a kernel best",
    .options = "describe include captured only device strategy budget effort seed prove jobs cache "
               "no-cache results record no-record json quiet",
    .answer = answer,
};
