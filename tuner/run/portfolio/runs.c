/* Runs each problem of a portfolio, and keeps the findings. */
#include "run/portfolio/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "process/interrupt.h"
#include "run/setup/setup.h"
#include "run/tune.h"

double portfolio_elapsed_s(const portfolio *p)
{
    return (double)(clock_now_ns() - p->start_ns) / 1e9;
}

double portfolio_spent(const portfolio *p)
{
    const settings *o = p->asked->run;
    double by_time = o->search.budget_s > 0 ? portfolio_elapsed_s(p) / o->search.budget_s : 0;
    double by_count = o->search.budget_evaluations
                          ? (double)p->found.evaluations / (double)o->search.budget_evaluations
                          : 0;
    return fmax(by_time, by_count);
}

/* Returns true if an error ends the portfolio, false if it concerns only one problem. */
static bool is_general(at_status status)
{
    return status != AT_SCRIPT && status != AT_DEVICE && status != AT_COMPILE;
}

static void say(const portfolio *p, size_t problem, const char *what)
{
    if (p->asked->run->quiet)
        return;
    if (problem < p->problem_count)
        fprintf(stderr, "%zu of %zu, ", problem + 1, p->problem_count);
    fprintf(stderr, "%s:", what);
    for (size_t a = 0; a < p->asked->axis_count; a++) {
        char text[300];
        value_format(portfolio_problem_at(p, problem)[a], text, sizeof text);
        fprintf(stderr, " %s=%s", p->asked->axes[a].name, text);
    }
    fputc('\n', stderr);
}

/* Takes a run's journal, so that hundreds of runs share one open file. */
static void keep_journal(portfolio *p, tune *t)
{
    journal *taken = tune_take_journal(t);
    if (taken && p->journal)
        journal_join(p->journal, taken);
    else if (taken)
        p->journal = taken;
}

static void take(portfolio *p, size_t problem, const run_summary *s)
{
    p->found.evaluations += s->result_count;
    p->found.device = s->device;
    memcpy(p->script_hash, s->script_hash, sizeof p->script_hash);
    memcpy(p->template_hash, s->template_hash, sizeof p->template_hash);
    memcpy(p->date, s->date, sizeof p->date);
    known_learn(&p->known, problem, s, PORTFOLIO_RANKS);
    if (!s->best_found)
        known_leave_out(&p->known, problem, "no variant worked");
    for (size_t i = 0; i < p->known.count && p->known_default == SIZE_MAX; i++)
        if (strcmp(p->known.items[i].text, p->default_text) == 0)
            p->known_default = i;
}

/* Makes the settings of a run that begins with known configurations. Borrows `starts`. */
static void set_starts(const portfolio *p, size_t problem, const size_t *given, size_t given_count,
                       const char *starts[SPENDING_MOST_EVERYWHERE], residues_problem *at)
{
    const portfolio_asked *a = p->asked;
    residues_settings(a->run, a->axes, a->axis_count, portfolio_problem_at(p, problem), at);
    at->settings.search.starts = starts;
    at->settings.search.start_count = 0;
    for (size_t i = 0; i < given_count && i < SPENDING_MOST_EVERYWHERE; i++)
        starts[at->settings.search.start_count++] = p->known.items[given[i]].text;
}

at_status portfolio_run(portfolio *p, size_t problem, const size_t *given, size_t given_count,
                        size_t evaluations, bool is_search, const char *what, at_error *error)
{
    const portfolio_asked *a = p->asked;
    const char *starts[SPENDING_MOST_EVERYWHERE];
    residues_problem at;
    tune *t = NULL;
    at_error why = {0};
    if (interrupt_is_pending())
        return error_set(error, AT_INTERRUPTED, "interrupted; the measurements so far are kept");
    set_starts(p, problem, given, given_count, starts, &at);
    at.settings.results.is_part = true;
    at.settings.results.record = false;
    at.settings.machine.workers = &p->workers;
    at.settings.search.budget_s = 0;
    at.settings.search.budget_evaluations = evaluations;
    at.settings.search.has_effort = is_search;
    at.settings.search.counts_twins = !is_search;
    at.settings.prove_all = a->run->prove_all || p->proves;
    at.settings.leave_unproven = !at.settings.prove_all;
    if (!a->run->search.has_effort)
        at.settings.search.effort = EFFORT_NORMAL;
    say(p, problem, what);
    at_status status = tune_run(&at.settings, &t, &why);
    if (t && !status)
        take(p, problem, tune_summary(t));
    if (t)
        keep_journal(p, t);
    tune_free(t);
    if (status && is_general(status)) {
        if (error)
            *error = why;
        return status;
    }
    if (status) {
        workers_close(&p->workers); /* The state of the workers is unknown. */
        known_leave_out(&p->known, problem, why.message);
    }
    return AT_OK;
}

static bool is_asked(const portfolio *p, size_t problem, const size_t *places, size_t count)
{
    size_t i = 0;
    while (i < count && p->known.items[places[i]].possible[problem] >= 0)
        i++;
    return i == count && (p->known_default == SIZE_MAX ||
                          p->known.items[p->known_default].possible[problem] >= 0);
}

static void list_values(const portfolio *p, size_t problem,
                        pattern_variable values[PORTFOLIO_MAX_AXES])
{
    for (size_t a = 0; a < p->asked->axis_count; a++)
        values[a] = (pattern_variable){p->asked->axes[a].name, portfolio_problem_at(p, problem)[a]};
}

at_status portfolio_ask_possible(portfolio *p, size_t problem, const size_t *places, size_t count,
                                 at_error *error)
{
    pattern_variable values[PORTFOLIO_MAX_AXES];
    if (is_asked(p, problem, places, count))
        return AT_OK;
    list_values(p, problem, values);
    at_status status =
        script_set_problem(p->script, PROBLEM_TUNED, values, p->asked->axis_count, error);
    for (size_t i = 0; i < count && !status; i++)
        known_ask(&p->known, problem, places[i], p->script);
    if (!status && p->known_default != SIZE_MAX)
        known_ask(&p->known, problem, p->known_default, p->script);
    return status;
}

/* Limits a number to the range of records and of distances between problems. A failure (NAN)
 * becomes the largest number, which exceeds every bound; readers do the same (record/pick.h). */
static double bounded(double x)
{
    static const double most = 1e18;
    return isnan(x) ? most : fmax(-most, fmin(x, most));
}

at_status portfolio_tell_features(portfolio *p, size_t problem, value *out, at_error *error)
{
    pattern_variable values[PORTFOLIO_MAX_AXES];
    size_t axes = p->asked->axis_count;
    if (p->fact_count == axes)
        return AT_OK;
    list_values(p, problem, values);
    at_status status = script_set_problem(p->script, PROBLEM_TUNED, values, axes, error);
    for (size_t i = axes; i < p->fact_count && !status; i++) {
        const portfolio_axis *a = &p->facts[i];
        double found = INFINITY;
        target_feature(p->script, PROBLEM_TUNED, a->feature,
                       &p->known.items[p->chosen[a->of]].values, &found);
        out[i - axes] = (value){.kind = VALUE_NUMBER, .number = bounded(found)};
    }
    return status;
}

bool portfolio_may_be_given(const portfolio *p, size_t configuration, size_t problem)
{
    const known_configuration *c = &p->known.items[configuration];
    return !c->found_fault && c->possible[problem] == 1 && configuration != p->known_default;
}

at_status portfolio_time_given(portfolio *p, size_t problem, const size_t *given, size_t count,
                               const char *what, at_error *error)
{
    ahead_await(p->ahead, problem);
    return portfolio_run(p, problem, given, count, count + portfolio_has_default(p, problem), false,
                         what, error);
}

void portfolio_prepare(const portfolio *p, size_t problem, const size_t *given, size_t count)
{
    const char *starts[SPENDING_MOST_EVERYWHERE];
    size_t all[SPENDING_MOST_EVERYWHERE], all_count = 0;
    residues_problem at;
    pattern_variable values[PORTFOLIO_MAX_AXES];
    if (portfolio_has_default(p, problem))
        all[all_count++] = p->known_default;
    for (size_t i = 0; i < count && all_count < SPENDING_MOST_EVERYWHERE; i++)
        all[all_count++] = given[i];
    set_starts(p, problem, all, all_count, starts, &at);
    list_values(p, problem, values);
    ahead_queue(p->ahead, &at.settings, values, p->asked->axis_count, problem);
}

size_t portfolio_list_chosen(const portfolio *p, size_t problem, size_t given[RECORD_MAX_KEPT])
{
    size_t count = 0;
    for (size_t i = 0; i < p->chosen_count; i++)
        if (portfolio_may_be_given(p, p->chosen[i], problem))
            given[count++] = p->chosen[i];
    return count;
}

bool portfolio_chose_wrong(const portfolio *p)
{
    for (size_t i = 0; i < p->chosen_count; i++)
        if (p->known.items[p->chosen[i]].found_fault)
            return true;
    return false;
}
