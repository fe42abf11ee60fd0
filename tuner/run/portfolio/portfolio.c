#include "run/portfolio/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "portfolio/cover.h"
#include "run/setup/setup.h"

/* Problems that may be timed with the chosen configurations, and on which the tree is grown. With a
 * third of them, portfolios of three patterns lose a little more (mean, cross-validated). */
enum { WITNESSES = 12288 };

static const double matrix_share =
    0.75; /* share of the budget up to the end of timing the configurations on all problems */

static bool accept(void *context, const value *problem)
{
    portfolio *p = context;
    script *s;
    at_error why = {0};
    at_status status = residues_load(p->asked->run, &p->workers.properties.limits, p->asked->axes,
                                     p->asked->axis_count, problem, &s, &why);
    script_free(s);
    if (status && !p->refused_count++)
        p->refused = why;
    return !status;
}

static bool accept_unseen(void *context, const value *problem)
{
    (void)context;
    (void)problem;
    return true;
}

/* Orders the problems: each is the farthest from all before it, so that the first few represent
 * all. */
static void order_problems(portfolio *p)
{
    size_t width = p->asked->axis_count;
    value moved[PORTFOLIO_MAX_AXES];
    for (size_t i = 1; i < p->made_on; i++) {
        size_t farthest = i;
        double most = -1;
        for (size_t j = i; j < p->made_on; j++) {
            double nearest = INFINITY;
            for (size_t k = 0; k < i; k++)
                nearest = fmin(nearest,
                               portfolio_distance(p->asked->axes, width, portfolio_problem_at(p, j),
                                                  portfolio_problem_at(p, k)));
            if (nearest > most) {
                most = nearest;
                farthest = j;
            }
        }
        memcpy(moved, portfolio_problem_at(p, i), width * sizeof *moved);
        memcpy(&p->problems[i * width], portfolio_problem_at(p, farthest), width * sizeof *moved);
        memcpy(&p->problems[farthest * width], moved, width * sizeof *moved);
    }
}

static at_status choose_problems(portfolio *p, at_error *error)
{
    const portfolio_asked *a = p->asked;
    size_t wanted = a->problem_count + a->held_out;
    p->problems = memory_new((wanted + WITNESSES) * a->axis_count, sizeof *p->problems);
    at_status status =
        residues_find(a->run, &p->workers.properties.limits, a->axes, a->axis_count, error);
    if (!status)
        status = portfolio_choose_problems(a->axes, a->axis_count, wanted, a->run->search.seed,
                                           accept, p, p->problems, &p->problem_count, error);
    if (!status && p->problem_count == 0)
        return error_set(error, p->refused.status ? p->refused.status : AT_USAGE, "%s",
                         *p->refused.message ? p->refused.message : "there is no such problem");
    /* Another seed, so that these problems differ from the first. */
    if (!status)
        status = portfolio_choose_problems(
            a->axes, a->axis_count, WITNESSES, a->run->search.seed + 1, accept_unseen, p,
            &p->problems[p->problem_count * a->axis_count], &p->witness_count, error);
    if (status)
        return status;
    p->made_on = p->problem_count < a->problem_count ? p->problem_count : a->problem_count;
    order_problems(p);
    known_init(&p->known, p->problems, a->axis_count, p->problem_count + p->witness_count);
    return AT_OK;
}

static size_t most_everywhere(const portfolio *p)
{
    size_t problems = 0;
    if (!portfolio_has_rate(p))
        return SPENDING_MOST_EVERYWHERE;
    for (size_t q = 0; q < p->made_on; q++)
        problems += portfolio_is_in(p, q);
    return spending_everywhere(matrix_share * p->asked->run->search.budget_s -
                                   portfolio_elapsed_s(p),
                               problems, portfolio_variant_s(p));
}

/* Adds the known times of the configurations of `places`, on all problems with times. `ratios` and
 * `defaults` have room for one row per problem. */
static at_status add_known(portfolio *p, const size_t *places, portfolio_matrix *m, double *ratios,
                           double *defaults, at_error *error)
{
    at_status status = AT_OK;
    for (size_t q = 0; q < p->made_on && !status; q++) {
        const known_problem *at = &p->known.problems[q];
        if (!portfolio_is_in(p, q) || at->best_ns <= 0)
            continue;
        status = portfolio_ask_possible(p, q, places, m->configuration_count, error);
        for (size_t i = 0; i < m->configuration_count && !status; i++, ratios++) {
            const known_configuration *c = &p->known.items[places[i]];
            *ratios = c->times_ns[q] > 0 ? c->times_ns[q] / at->best_ns : SHORTLIST_UNKNOWN;
            if (c->possible[q] != 1)
                *ratios = SHORTLIST_IMPOSSIBLE;
        }
        defaults[m->problem_count++] = at->baseline_ns / at->best_ns;
    }
    return status;
}

/* Lists configurations that were good on some problem and promise most on all problems. */
static at_status list_everywhere(portfolio *p, at_error *error)
{
    size_t count = 0, *places = memory_new(p->known.count, sizeof *places);
    double *ratios = memory_new(p->made_on * p->known.count, sizeof *ratios),
           *defaults = memory_new(p->made_on, sizeof *defaults);
    for (size_t c = 0; c < p->known.count; c++)
        if (!p->known.items[c].found_fault && c != p->known_default)
            places[count++] = c;
    portfolio_matrix m = {0, count, ratios, defaults};
    at_status status = add_known(p, places, &m, ratios, defaults, error);
    if (!status)
        p->everywhere_count = portfolio_shortlist(&m, most_everywhere(p), p->everywhere);
    for (size_t i = 0; i < p->everywhere_count; i++)
        p->everywhere[i] = places[p->everywhere[i]];
    /* Only the default works. */
    if (!status && !p->everywhere_count && p->known_default != SIZE_MAX)
        p->everywhere[p->everywhere_count++] = p->known_default;
    free(places);
    free(ratios);
    free(defaults);
    return status;
}

static at_status list_possible(portfolio *p, size_t problem, const size_t *from, size_t from_count,
                               size_t *given, size_t *count, at_error *error)
{
    at_status status = portfolio_ask_possible(p, problem, from, from_count, error);
    *count = 0;
    for (size_t i = 0; i < from_count && !status; i++)
        if (portfolio_may_be_given(p, from[i], problem))
            given[(*count)++] = from[i];
    return status;
}

static at_status fill_matrix(portfolio *p, at_error *error)
{
    p->everywhere = memory_new(SPENDING_MOST_EVERYWHERE, sizeof *p->everywhere);
    at_status status = list_everywhere(p, error);
    for (size_t q = 0, filled = 0, next = 0; q < p->made_on && !status; q++) {
        size_t given[SPENDING_MOST_EVERYWHERE];
        if (!portfolio_is_in(p, q))
            continue;
        if (filled >= portfolio_first_searched(p) && portfolio_spent(p) >= 1) {
            p->found.out_of_budget = true;
            known_leave_out(&p->known, q, "the budget was spent");
            continue;
        }
        filled++;
        for (; next < p->made_on && ahead_has_room(p->ahead) && !status; next++) {
            size_t count = 0;
            if (portfolio_is_in(p, next) && next >= q)
                status = list_possible(p, next, p->everywhere, p->everywhere_count, given, &count,
                                       error);
            if (!status && count)
                portfolio_prepare(p, next, given, count);
        }
        size_t count = 0;
        if (!status)
            status = list_possible(p, q, p->everywhere, p->everywhere_count, given, &count, error);
        if (!status && count + portfolio_has_default(p, q) == 0)
            status = portfolio_search(p, q, error);
        else if (!status)
            status = portfolio_time_given(p, q, given, count, "side by side", error);
    }
    return status;
}

static at_status try_all(portfolio *p, at_error *error)
{
    at_status status = portfolio_search_held_out(p, error);
    /* A held-out problem may prove a chosen configuration wrong, which needs a new choice. */
    if (!status && portfolio_chose_wrong(p))
        status = portfolio_choose(p, error);
    if (!status)
        status = portfolio_grow_tree(p, error);
    if (!status)
        status = portfolio_read_back(p, error);
    for (size_t q = 0; q < p->problem_count && !status; q++)
        status = portfolio_try_pick(p, q, error);
    p->found.made_on = portfolio_sum_up(p, false);
    p->found.held_out = portfolio_sum_up(p, true);
    p->kept.held_out = p->found.held_out.count;
    p->kept.mean_regret = p->found.held_out.mean;
    p->kept.worst_regret = p->found.held_out.worst;
    portfolio_set_draft(p, true);
    return status;
}

/* Returns an error if a feature has no value for the default on the loaded problem. */
static at_status check_features(portfolio *p, at_error *error)
{
    const pattern *described = script_pattern(p->script);
    at_status status = AT_OK;
    double any;
    for (size_t i = 0; i < described->feature_count && !status; i++)
        status = script_feature(p->script, PROBLEM_TUNED, i, described->baseline, &any, error);
    return status;
}

static at_status open(portfolio *p, at_error *error)
{
    const portfolio_asked *a = p->asked;
    at_status status = target_check_script(a->run, error);
    if (!status)
        status = workers_open(&p->workers, a->run, error);
    if (!status)
        status = target_load_script(a->run, &p->workers.properties.limits, &p->script, error);
    if (!status)
        status = check_features(p, error);
    if (status)
        return status;
    if (a->run->results.must_record && (!p->workers.device || p->workers.properties.predicted))
        return error_set(
            error, AT_USAGE,
            "--record is refused: the times of a simulated device are predictions, and a record "
            "holds measurements of a real GPU only");
    p->found.device = p->workers.properties;
    const pattern *described = script_pattern(p->script);
    char text[CONFIGURATION_BYTES];
    script_format_configuration(p->script, described->baseline, text, sizeof text);
    p->default_text = memory_text(text);
    p->pattern = memory_text(described->name);
    for (size_t i = 0; i < a->axis_count && !status; i++) {
        bool known_name = false;
        for (size_t v = 0; v < described->problem_count; v++)
            known_name = known_name ||
                         strcmp(described->problems[PROBLEM_TUNED][v].name, a->axes[i].name) == 0;
        /* If the script has the variable, the script's own error is more useful. */
        if (!known_name) {
            value any = a->axes[i].value_count
                            ? a->axes[i].values[0]
                            : (value){.kind = VALUE_INTEGER, .integer = a->axes[i].most};
            script *none;
            status = residues_load(a->run, &p->workers.properties.limits, &a->axes[i], 1, &any,
                                   &none, error);
            script_free(none);
        }
    }
    if (!status && a->run->results.record && p->workers.device && !p->workers.properties.predicted)
        status = record_check_writable(a->run->results.results_dir,
                                       p->workers.properties.limits.name, p->pattern, error);
    return status;
}

static void allocate(portfolio *p)
{
    p->kept.configurations = memory_new(RECORD_MAX_KEPT, sizeof *p->kept.configurations);
    p->kept.nodes = memory_new(RECORD_MAX_NODES, sizeof *p->kept.nodes);
    size_t rows = p->problem_count + p->witness_count + 1;
    p->rows = memory_new(rows, sizeof *p->rows);
    p->row_times_ns = memory_new(rows * RECORD_MAX_KEPT, sizeof *p->row_times_ns);
    p->pairs = memory_new(rows * (RECORD_MAX_VALUES + PORTFOLIO_MAX_AXES), sizeof *p->pairs);
    p->tried = memory_new(p->problem_count, sizeof *p->tried);
}

static at_status keep(portfolio *p, at_error *error)
{
    if (!p->asked->run->results.record || p->found.device.predicted)
        return AT_OK;
    at_status status = draft_merge(p->asked->run->results.results_dir, &p->found.draft,
                                   p->found.record_path, sizeof p->found.record_path, error);
    if (p->journal && !status)
        journal_finish(p->journal, NULL);
    return status;
}

at_status portfolio_make(const portfolio_asked *asked, portfolio **out, at_error *error)
{
    portfolio *p = memory_new(1, sizeof *p);
    *out = NULL;
    p->asked = asked;
    p->known_default = SIZE_MAX;
    p->start_ns = clock_now_ns();
    at_status status = open(p, error);
    if (!status)
        status = choose_problems(p, error);
    if (!status) {
        allocate(p);
        status = portfolio_search_problems(p, error);
    }
    p->ahead =
        status ? NULL : ahead_new(asked->run, &p->workers.properties, p->known.problem_count);
    if (!status)
        status = fill_matrix(p, error);
    if (!status)
        status = portfolio_time_finalists(p, error);
    if (!status)
        status = portfolio_choose(p, error);
    if (!status)
        status = portfolio_set_fixed(p, error);
    if (!status)
        status = portfolio_time_witnesses(p, error);
    ahead_free(p->ahead);
    p->ahead = NULL;
    if (!status)
        status = try_all(p, error);
    if (!status)
        status = keep(p, error);
    p->found.tried = p->tried;
    p->found.tried_count = p->problem_count;
    p->found.refused = p->refused_count;
    p->found.refused_why = p->refused.message;
    p->found.wall_s = portfolio_elapsed_s(p);
    if (status)
        portfolio_free(p);
    else
        *out = p;
    return status;
}

void portfolio_free(portfolio *p)
{
    if (!p)
        return;
    journal_close(p->journal);
    known_values_deinit(&p->kept.fixed);
    free(p->kept.configurations);
    free(p->kept.nodes);
    free(p->rows);
    free(p->row_times_ns);
    free(p->pairs);
    free(p->tried);
    free(p->everywhere);
    free(p->problems);
    free(p->pattern);
    free(p->default_text);
    script_free(p->script);
    record_deinit(&p->given);
    known_deinit(&p->known);
    ahead_free(p->ahead);
    workers_close(&p->workers);
    free(p);
}

const portfolio_found *portfolio_get_found(const portfolio *p)
{
    return &p->found;
}
