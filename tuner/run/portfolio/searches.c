/* Searches the first problems, the problems that promise most, and the held-out problems. */
#include "run/portfolio/state.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "portfolio/cover.h"
#include "run/tune.h"

enum {
    FEWEST_SEARCHED = 3,
    MOST_GIVEN = 24, /* known configurations that a search begins with */
    LEAST_EVALUATIONS = 8
};

static const double promise_least = 0.005; /* least gain that makes a search worthwhile */
static const double search_share = 0.5;    /* share of the budget for searches */

size_t portfolio_first_searched(const portfolio *p)
{
    size_t some = p->made_on / 8,
           least = p->made_on < FEWEST_SEARCHED ? p->made_on : FEWEST_SEARCHED;
    return some > least ? some : least;
}

static size_t evaluations_of_search(const portfolio *p)
{
    uint64_t budget = p->asked->run->search.budget_evaluations;
    uint64_t searches = portfolio_first_searched(p) + (p->problem_count - p->made_on);
    uint64_t normal = effort_limits(EFFORT_NORMAL, UINT64_MAX).evaluations;
    if (!budget)
        return 0;
    uint64_t each = budget / (2 * searches);
    return (size_t)(each < LEAST_EVALUATIONS ? LEAST_EVALUATIONS : each < normal ? each : normal);
}

bool portfolio_has_rate(const portfolio *p)
{
    return p->asked->run->search.budget_s > 0 && p->search_evaluations > 0;
}

double portfolio_variant_s(const portfolio *p)
{
    return p->search_s / (double)p->search_evaluations;
}

static size_t evaluations_of_next(const portfolio *p)
{
    size_t left = 0;
    if (p->evaluations_each || !portfolio_has_rate(p))
        return p->evaluations_each;
    for (size_t q = 0; q < p->made_on; q++)
        left += portfolio_is_in(p, q) && !p->known.problems[q].searched;
    return spending_search(search_share * p->asked->run->search.budget_s - portfolio_elapsed_s(p),
                           left, portfolio_variant_s(p),
                           effort_limits(EFFORT_NORMAL, UINT64_MAX).evaluations);
}

static at_status ask_possible(portfolio *p, size_t problem, at_error *error)
{
    size_t *all = memory_new(p->known.count, sizeof *all);
    for (size_t i = 0; i < p->known.count; i++)
        all[i] = i;
    at_status status = portfolio_ask_possible(p, problem, all, p->known.count, error);
    free(all);
    return status;
}

/* Lists the searched problems, nearest first. The caller frees the list. */
static size_t *nearest_searched(const portfolio *p, size_t problem, size_t *count)
{
    size_t *found = memory_new(p->made_on, sizeof *found);
    double *distances = memory_new(p->made_on, sizeof *distances);
    *count = 0;
    for (size_t q = 0; q < p->made_on; q++) {
        if (!p->known.problems[q].searched || q == problem)
            continue;
        double d = portfolio_distance(p->asked->axes, p->asked->axis_count,
                                      portfolio_problem_at(p, q), portfolio_problem_at(p, problem));
        size_t at = (*count)++;
        for (; at > 0 && distances[at - 1] > d; at--) {
            found[at] = found[at - 1];
            distances[at] = distances[at - 1];
        }
        found[at] = q;
        distances[at] = d;
    }
    free(distances);
    return found;
}

/* Lists the configurations that are possible on this problem: the best of each searched problem,
 * the nearest problem first; then the second best of each, and so on. */
static size_t list_given(const portfolio *p, size_t problem, size_t given[MOST_GIVEN])
{
    size_t searched, count = 0, *nearest = nearest_searched(p, problem, &searched);
    for (size_t rank = 0; rank < PORTFOLIO_RANKS; rank++)
        for (size_t i = 0; i < searched && count < MOST_GIVEN; i++)
            for (size_t c = 0; c < p->known.count && count < MOST_GIVEN; c++)
                if (known_has_rank(&p->known, c, nearest[i], rank) &&
                    !portfolio_contains(given, count, c) && portfolio_may_be_given(p, c, problem))
                    given[count++] = c;
    free(nearest);
    return count;
}

at_status portfolio_search(portfolio *p, size_t problem, at_error *error)
{
    size_t given[MOST_GIVEN], count = 0;
    known_problem *at = &p->known.problems[problem];
    at_status status = p->known.count ? ask_possible(p, problem, error) : AT_OK;
    if (status)
        return status;
    count = list_given(p, problem, given);
    int64_t start_ns = clock_now_ns();
    uint64_t before = p->found.evaluations;
    status =
        portfolio_run(p, problem, given, count, evaluations_of_next(p), true, "searched", error);
    p->search_s += (double)(clock_now_ns() - start_ns) / 1e9;
    p->search_evaluations += p->found.evaluations - before;
    if (status || !portfolio_is_in(p, problem))
        return status;
    at->searched = true;
    double known_ns = 0;
    for (size_t i = 0; i < count; i++) {
        double time_ns = p->known.items[given[i]].times_ns[problem];
        if (time_ns > 0 && (known_ns == 0 || time_ns < known_ns))
            known_ns = time_ns;
    }
    at->gain = known_ns > 0 ? known_ns / at->best_ns - 1 : -1;
    return AT_OK;
}

static double promise(const portfolio *p, size_t problem)
{
    double gains = 0, weights = 0;
    for (size_t q = 0; q < p->made_on; q++) {
        if (!p->known.problems[q].searched || p->known.problems[q].gain < 0)
            continue;
        double d = portfolio_distance(p->asked->axes, p->asked->axis_count,
                                      portfolio_problem_at(p, q), portfolio_problem_at(p, problem));
        double weight = 1 / ((0.5 + d) * (0.5 + d));
        gains += weight * p->known.problems[q].gain;
        weights += weight;
    }
    return weights > 0 ? gains / weights : INFINITY;
}

static size_t most_promising(const portfolio *p, double *most)
{
    size_t best = SIZE_MAX;
    *most = promise_least;
    for (size_t i = 0; i < p->made_on; i++)
        if (portfolio_is_in(p, i) && !p->known.problems[i].searched && promise(p, i) > *most) {
            *most = promise(p, i);
            best = i;
        }
    return best;
}

at_status portfolio_search_problems(portfolio *p, at_error *error)
{
    size_t first = portfolio_first_searched(p), searched = 0;
    at_status status = AT_OK;
    p->evaluations_each = evaluations_of_search(p);
    for (size_t i = 0; i < p->made_on && searched < first && !status; i++) {
        if (searched > 0 && portfolio_spent(p) >= search_share)
            break;
        status = portfolio_search(p, i, error);
        searched += portfolio_is_in(p, i);
    }
    double most;
    for (size_t next; !status && (next = most_promising(p, &most)) != SIZE_MAX;) {
        if (portfolio_spent(p) >= search_share) {
            p->found.out_of_budget = true;
            break;
        }
        status = portfolio_search(p, next, error);
    }
    return status;
}

at_status portfolio_search_held_out(portfolio *p, at_error *error)
{
    at_status status = AT_OK;
    for (size_t q = p->made_on; q < p->problem_count && !status; q++) {
        size_t given[RECORD_MAX_KEPT];
        if (q > p->made_on && portfolio_spent(p) >= 1) {
            p->found.out_of_budget = true;
            known_leave_out(&p->known, q, "the budget was spent");
            continue;
        }
        status = portfolio_ask_possible(p, q, p->chosen, p->chosen_count, error);
        if (!status)
            status = portfolio_run(p, q, given, portfolio_list_chosen(p, q, given),
                                   p->evaluations_each, true, "held out, searched", error);
        p->known.problems[q].searched = true;
    }
    return status;
}

/* Returns the number of variants for which there is time on each problem. */
static double affordable(double left_s, size_t problems, double variant_s)
{
    return left_s / (double)(problems ? problems : 1) / variant_s;
}

size_t spending_search(double left_s, size_t problems, double variant_s, uint64_t normal)
{
    double most = affordable(left_s, problems, variant_s);
    size_t evaluations = SPENDING_LEAST_SEARCHED;
    if (most >= (double)normal)
        return 0;
    while ((double)(2 * evaluations) <= most)
        evaluations *= 2;
    return evaluations;
}

size_t spending_everywhere(double left_s, size_t problems, double variant_s)
{
    double most = affordable(left_s, problems, variant_s);
    size_t count = SPENDING_LEAST_EVERYWHERE;
    while (count < SPENDING_MOST_EVERYWHERE && (double)(count + SPENDING_LEAST_EVERYWHERE) <= most)
        count += SPENDING_LEAST_EVERYWHERE;
    return count;
}
