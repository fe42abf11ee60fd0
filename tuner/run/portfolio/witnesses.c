/* Witnesses: further problems, on which first the finalists and then the chosen configurations are
 * timed; and the tree, which learns from all times.
 *
 * To tell which configurations are best, all good configurations would have to be timed on many
 * problems. There is no time for that, so twice as many configurations as are kept are timed on
 * more problems. (For sums of columns, six configurations chosen in this way lose more than 4 %
 * against a perfect choice on 0.9 of 100 problems, without this step on 1.7:
 * tests/bench/portfolio_sets.) Witnesses come from a sequence that fills the ranges evenly. A tree
 * of few problems chooses badly, so the tree is grown on predicted times of thousands of problems
 * that were not timed. */
#include "run/portfolio/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "portfolio/kriging.h"
#include "portfolio/tree.h"

enum {
    TIMED_WITNESSES = 3, /* witnesses per problem of the portfolio, without a budget */
    TIMED_FINALISTS = 1, /* witnesses for the finalists per problem of the portfolio */
    AHEAD = 16           /* witnesses chosen in advance, so that kernels can be compiled */
};

/* The finalists' share of the budget that is left after the race on all problems. */
static const double finalists_share = 0.4;

/* ---- timed rows ---- */

/* The times of the chosen configurations as a matrix: on all timed problems except held-out
 * problems, with all facts of each problem. rows_init() makes room for `more` further rows. */
typedef struct rows {
    portfolio_matrix m;
    double *ratios, *defaults;
    value *problems;
} rows;

static void rows_deinit(rows *r)
{
    free(r->ratios);
    free(r->defaults);
    free(r->problems);
}

static bool is_timed(const portfolio *p, size_t problem)
{
    const known_problem *at = &p->known.problems[problem];
    return !portfolio_is_held_out(p, problem) && !at->left_out && at->best_ns > 0;
}

static at_status add_row(portfolio *p, rows *r, size_t problem, double **ratios, at_error *error)
{
    size_t row = r->m.problem_count++;
    value *values = &r->problems[row * p->fact_count];
    *ratios = &r->ratios[row * r->m.configuration_count];
    memcpy(values, portfolio_problem_at(p, problem), p->asked->axis_count * sizeof *values);
    return portfolio_tell_features(p, problem, values + p->asked->axis_count, error);
}

static at_status rows_init(portfolio *p, size_t more, rows *r, at_error *error)
{
    size_t most = p->known.problem_count + more + 1, width = p->chosen_count;
    *r = (rows){.ratios = memory_new(most * width, sizeof *r->ratios),
                .defaults = memory_new(most, sizeof *r->defaults),
                .problems = memory_new(most * p->fact_count, sizeof *r->problems)};
    r->m = (portfolio_matrix){0, width, r->ratios, r->defaults};
    at_status status = AT_OK;
    for (size_t q = 0; q < p->known.problem_count && !status; q++) {
        const known_problem *at = &p->known.problems[q];
        double *ratios;
        if (!is_timed(p, q))
            continue;
        r->defaults[r->m.problem_count] = at->baseline_ns / at->best_ns;
        status = add_row(p, r, q, &ratios, error);
        for (size_t i = 0; i < width; i++)
            ratios[i] = p->known.items[p->chosen[i]].times_ns[q] / at->best_ns;
    }
    return status;
}

/* Replaces a row's ratios by predicted ratios for possible configurations, with a margin for the
 * risk, because the default serves a program better than a slower configuration. */
static void expect_row(const kriging *k, rows *r, const value *problem, size_t row)
{
    size_t width = r->m.configuration_count;
    double expected[RECORD_MAX_KEPT + 1], *ratios = &r->ratios[row * width];
    kriging_expect(k, problem, expected);
    expected[width] = r->defaults[row] > 0 ? expected[width] : 0;
    kriging_add_risk(k, problem, expected);
    for (size_t i = 0; i < width; i++)
        ratios[i] = ratios[i] > 0 ? expected[i] : 0;
    r->defaults[row] = expected[width];
}

/* Adds a witness that was not timed, with ratio 1 for each possible configuration. */
static at_status add_expected(portfolio *p, rows *r, size_t witness, at_error *error)
{
    double *ratios;
    if (is_timed(p, witness) ||
        portfolio_ask_possible(p, witness, p->chosen, p->chosen_count, NULL) != AT_OK)
        return AT_OK;
    r->defaults[r->m.problem_count] = portfolio_has_default(p, witness);
    at_status status = add_row(p, r, witness, &ratios, error);
    for (size_t i = 0; i < p->chosen_count; i++)
        ratios[i] = p->known.items[p->chosen[i]].possible[witness] == 1;
    return status;
}

/* Lists the features of the chosen configurations, and the features of the problem alone. */
static void list_facts(portfolio *p)
{
    const pattern *described = script_pattern(p->script);
    p->fact_count = p->asked->axis_count;
    memcpy(p->facts, p->asked->axes, p->fact_count * sizeof *p->facts);
    for (size_t f = 0; f < described->feature_count; f++) {
        const pattern_feature *feature = &described->features[f];
        size_t of = feature->of_configuration ? p->chosen_count : 1;
        p->features[f] = (record_feature){feature->name, feature->definition};
        for (size_t i = 0; i < of && p->fact_count < p->asked->axis_count + PORTFOLIO_MAX_FEATURES;
             i++)
            p->facts[p->fact_count++] = (portfolio_axis){.name = feature->name,
                                                         .feature = &p->features[f],
                                                         .is_of_one = feature->of_configuration,
                                                         .of = i};
    }
}

at_status portfolio_grow_tree(portfolio *p, at_error *error)
{
    rows timed = {.ratios = NULL}, all = {.ratios = NULL};
    kriging *k = NULL;
    list_facts(p);
    at_status status = rows_init(p, 0, &timed, error);
    if (!status)
        status = rows_init(p, p->witness_count, &all, error);
    if (!status)
        k = kriging_new(&timed.m, p->facts, p->fact_count, timed.problems, true);
    for (size_t w = 0; w < p->witness_count && !status; w++)
        status = add_expected(p, &all, p->problem_count + w, error);
    for (size_t row = 0; row < all.m.problem_count && !status; row++)
        expect_row(k, &all, &all.problems[row * p->fact_count], row);
    if (!status)
        p->kept.node_count =
            portfolio_grow(&all.m, p->facts, p->fact_count, all.problems, p->kept.nodes);
    kriging_free(k);
    rows_deinit(&timed);
    rows_deinit(&all);
    return status;
}

/* Chosen witnesses that are not timed yet, and the position in the sequence. */
typedef struct chosen_witnesses {
    size_t items[AHEAD];
    size_t count;
    size_t next; /* position of the next unseen witness */
} chosen_witnesses;

static bool is_new(const portfolio *p, size_t witness)
{
    size_t q = 0;
    while (q < p->problem_count &&
           portfolio_distance(p->asked->axes, p->asked->axis_count, portfolio_problem_at(p, q),
                              portfolio_problem_at(p, witness)) > 0)
        q++;
    return q == p->problem_count;
}

static bool is_useful(portfolio *p, size_t witness)
{
    size_t given[RECORD_MAX_KEPT];
    return is_new(p, witness) && !is_timed(p, witness) &&
           portfolio_ask_possible(p, witness, p->chosen, p->chosen_count, NULL) == AT_OK &&
           portfolio_list_chosen(p, witness, given) > 0;
}

static bool is_taken(const portfolio *p, size_t witness)
{
    script *s;
    at_status status = portfolio_load_script(p, witness, &s, NULL);
    script_free(s);
    return status == AT_OK;
}

static void choose_witnesses(portfolio *p, chosen_witnesses *w)
{
    size_t end = p->problem_count + p->witness_count;
    for (; w->next < end && w->count < AHEAD; w->next++) {
        size_t given[RECORD_MAX_KEPT], q = w->next;
        if (!is_useful(p, q) || !is_taken(p, q))
            continue;
        w->items[w->count++] = q;
        portfolio_prepare(p, q, given, portfolio_list_chosen(p, q, given));
    }
}

static bool is_proof_missing(const portfolio *p, const size_t *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!p->known.items[given[i]].proven)
            return true;
    return false;
}

/* Times a witness and proves the chosen configurations meanwhile: proofs take longer than a GPU,
 * and runs without `proves` prove nothing. If `late`, only missing proofs are made. */
static at_status time_witness(portfolio *p, size_t witness, bool late, at_error *error)
{
    size_t given[RECORD_MAX_KEPT], count = portfolio_list_chosen(p, witness, given);
    at_status status = AT_OK;
    p->proves = is_proof_missing(p, given, count);
    if (count && (p->proves || !late))
        status = portfolio_time_given(p, witness, given, count, "what was chosen", error);
    for (size_t i = 0; p->proves && i < count; i++)
        p->known.items[given[i]].proven = true;
    p->proves = false;
    return status;
}

static size_t take_next(portfolio *p, chosen_witnesses *w)
{
    if (w->count <= AHEAD / 2)
        choose_witnesses(p, w);
    if (!w->count)
        return SIZE_MAX;
    size_t witness = w->items[0];
    memmove(w->items, w->items + 1, --w->count * sizeof *w->items);
    return witness;
}

static bool has_budget(const portfolio *p)
{
    return p->asked->run->search.budget_s > 0 || p->asked->run->search.budget_evaluations > 0;
}

at_status portfolio_time_finalists(portfolio *p, at_error *error)
{
    chosen_witnesses w = {.next = p->problem_count};
    size_t witness, given[RECORD_MAX_KEPT];
    double spent = portfolio_spent(p), until = spent + finalists_share * (1 - spent);
    if (p->everywhere_count <= p->asked->most || spent >= 1)
        return AT_OK;
    at_status status = AT_OK;
    portfolio_narrow(p);
    for (size_t timed = 0; !status && (has_budget(p) ? portfolio_spent(p) < until
                                                     : timed < TIMED_FINALISTS * p->made_on);
         timed++) {
        if ((witness = take_next(p, &w)) == SIZE_MAX)
            break;
        size_t count = portfolio_list_chosen(p, witness, given);
        status = portfolio_time_given(p, witness, given, count, "finalists", error);
        p->known.problems[witness].wide = true;
    }
    return status;
}

at_status portfolio_time_witnesses(portfolio *p, at_error *error)
{
    chosen_witnesses w = {.next = p->problem_count};
    size_t witness;
    at_status status = AT_OK;
    for (size_t timed = 0; !status && (has_budget(p) || timed < TIMED_WITNESSES * p->made_on);
         timed++) {
        bool late = portfolio_spent(p) >= 1;
        if (late && !is_proof_missing(p, p->chosen, p->chosen_count))
            break;
        if ((witness = take_next(p, &w)) == SIZE_MAX)
            break;
        status = time_witness(p, witness, late, error);
        if (!status && portfolio_chose_wrong(p))
            status = portfolio_choose(p, error);
    }
    return status;
}
