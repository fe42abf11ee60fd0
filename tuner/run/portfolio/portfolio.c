#include "run/portfolio/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "process/interrupt.h"
#include "run/portfolio/spending.h"
#include "run/setup/setup.h"
#include "run/tune.h"

enum {
    FEWEST_SEARCHED = 3,
    MOST_GIVEN = 24,    /* configurations that a problem is given of what was good elsewhere */
    LEARNT = 8,         /* of a run: the fastest */
    WITNESSES = 1024,   /* problems, as many of which are timed with what was chosen as there is time for; */
    TIMED_WITNESSES = 3, /* without a budget so many times those that the portfolio is made on */
    WITNESSES_AHEAD = 8, /* are compiled while one is timed */
    LEAST_EVALUATIONS = 8
};

static const double promise_least = 0.005; /* of a search that is worth it */
static const double search_share = 0.5;    /* of the budget */
static const double matrix_share = 0.75;   /* and until everything was timed everywhere */
static const double alike = 0.002;         /* what is that near to a problem's best stands for it */

static bool is_in(const portfolio *p, size_t problem)
{
    return !p->known.problems[problem].left_out;
}

/* ---- problems ---- */

/* Is it one of the script's? */
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

/* Farthest from all before it first, so that the first few stand for all. */
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
                nearest = fmin(nearest, portfolio_distance(p->asked->axes, width, portfolio_problem_at(p, j),
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
    p->problems = calloc((wanted + WITNESSES) * a->axis_count + 1, sizeof *p->problems);
    if (!p->problems)
        return known_no_memory(error);
    at_status status = residues_find(a->run, &p->workers.properties.limits, a->axes, a->axis_count, error);
    if (!status)
        status = portfolio_choose_problems(a->axes, a->axis_count, wanted, a->run->seed, accept, p,
                                           p->problems, &p->problem_count, error);
    if (!status && p->problem_count == 0)
        return error_set(error, p->refused.status ? p->refused.status : AT_USAGE, "%s",
                         *p->refused.message ? p->refused.message : "there is no such problem");
    /* Those of another seed are other ones. */
    if (!status)
        status = portfolio_choose_problems(a->axes, a->axis_count, WITNESSES, a->run->seed + 1,
                                           accept_unseen, p, &p->problems[p->problem_count * a->axis_count],
                                           &p->witness_count, error);
    if (status)
        return status;
    p->made_on = p->problem_count < a->problem_count ? p->problem_count : a->problem_count;
    order_problems(p);
    return known_init(&p->known, p->problems, a->axis_count, p->problem_count + p->witness_count, error);
}

/* ---- budget ---- */

static double elapsed_s(const portfolio *p)
{
    return (double)(clock_now_ns() - p->start_ns) / 1e9;
}

/* What is spent of the budget: 1 and more, all. Without one it is never spent. */
static double spent(const portfolio *p)
{
    const settings *o = p->asked->run;
    double by_time = o->budget_s > 0 ? elapsed_s(p) / o->budget_s : 0;
    double by_count = o->budget_evaluations
                          ? (double)p->found.evaluations / (double)o->budget_evaluations
                          : 0;
    return fmax(by_time, by_count);
}

static size_t first_searched(const portfolio *p)
{
    size_t some = p->made_on / 8, least = p->made_on < FEWEST_SEARCHED ? p->made_on : FEWEST_SEARCHED;
    return some > least ? some : least;
}

/* A budget of variants has to do for the first searches and those of the problems that are held out. */
static size_t evaluations_of_search(const portfolio *p)
{
    uint64_t budget = p->asked->run->budget_evaluations;
    uint64_t searches = first_searched(p) + (p->problem_count - p->made_on);
    uint64_t normal = effort_limits(EFFORT_NORMAL, UINT64_MAX).evaluations;
    if (!budget)
        return 0;
    uint64_t each = budget / (2 * searches);
    return (size_t)(each < LEAST_EVALUATIONS ? LEAST_EVALUATIONS : each < normal ? each : normal);
}

/* Are there times to judge by how far a budget of seconds goes? */
static bool has_rate(const portfolio *p)
{
    return p->asked->run->budget_s > 0 && p->search_evaluations > 0;
}

static double variant_s(const portfolio *p)
{
    return p->search_s / (double)p->search_evaluations;
}

/* Variants of the next search; 0: the effort's. */
static size_t evaluations_of_next(const portfolio *p)
{
    size_t left = 0;
    if (p->evaluations_each || !has_rate(p))
        return p->evaluations_each;
    for (size_t q = 0; q < p->made_on; q++)
        left += is_in(p, q) && !p->known.problems[q].searched;
    return spending_search(search_share * p->asked->run->budget_s - elapsed_s(p), left, variant_s(p),
                           effort_limits(EFFORT_NORMAL, UINT64_MAX).evaluations);
}

/* ---- runs ---- */

/* What is wrong with one problem is its own; anything else ends the whole. */
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

/* Of hundreds of runs one file is open. */
static at_status keep_journal(portfolio *p, tune *t, at_error *error)
{
    journal *taken = tune_take_journal(t);
    if (taken && p->journal)
        return journal_join(p->journal, taken, error);
    if (taken)
        p->journal = taken;
    return AT_OK;
}

static at_status take(portfolio *p, size_t problem, const run_summary *s, at_error *error)
{
    p->found.evaluations += s->result_count;
    p->found.device = s->device;
    memcpy(p->script_hash, s->script_hash, sizeof p->script_hash);
    memcpy(p->template_hash, s->template_hash, sizeof p->template_hash);
    memcpy(p->date, s->date, sizeof p->date);
    at_status status = known_learn(&p->known, problem, s, LEARNT, error);
    if (!status && !s->best_found)
        status = known_leave_out(&p->known, problem, "no variant worked", error);
    for (size_t i = 0; i < p->known.count && p->known_default == SIZE_MAX; i++)
        if (strcmp(p->known.items[i].text, p->default_text) == 0)
            p->known_default = i;
    return status;
}

/* The settings of a run that begins with some of what is known; they point into `starts`. */
static void set_starts(const portfolio *p, size_t problem, const size_t *given, size_t given_count,
                       const char *starts[SPENDING_MOST_EVERYWHERE], residues_problem *at)
{
    const portfolio_asked *a = p->asked;
    residues_settings(a->run, a->axes, a->axis_count, portfolio_problem_at(p, problem), at);
    at->settings.starts = starts;
    at->settings.start_count = 0;
    for (size_t i = 0; i < given_count && i < SPENDING_MOST_EVERYWHERE; i++)
        starts[at->settings.start_count++] = p->known.items[given[i]].text;
}

/* One run on a problem that begins with some of what is known; `evaluations` 0: those of the effort. */
static at_status run_on(portfolio *p, size_t problem, const size_t *given, size_t given_count,
                        size_t evaluations, bool is_search, const char *what, at_error *error)
{
    const portfolio_asked *a = p->asked;
    const char *starts[SPENDING_MOST_EVERYWHERE];
    residues_problem at;
    tune *t = NULL;
    at_error why = {0};
    if (interrupt_waits())
        return error_set(error, AT_INTERRUPTED, "interrupted; what was measured is kept");
    set_starts(p, problem, given, given_count, starts, &at);
    at.settings.is_part = true;
    at.settings.record = false;
    at.settings.workers = &p->workers;
    at.settings.budget_s = 0;
    at.settings.budget_evaluations = evaluations;
    at.settings.has_effort = is_search;
    at.settings.prove_all = a->run->prove_all || p->proves;
    at.settings.leave_unproven = !at.settings.prove_all;
    if (!a->run->has_effort)
        at.settings.effort = EFFORT_NORMAL;
    say(p, problem, what);
    at_status status = tune_run(&at.settings, &t, &why);
    at_status learnt = AT_OK;
    if (t && !status)
        learnt = take(p, problem, tune_summary(t), error);
    if (t && !learnt)
        learnt = keep_journal(p, t, error);
    tune_free(t);
    if (learnt)
        return learnt;
    if (status && is_general(status)) {
        if (error)
            *error = why;
        return status;
    }
    if (status) {
        workers_close(&p->workers); /* who knows what state they are in */
        return known_leave_out(&p->known, problem, why.message, error);
    }
    return AT_OK;
}

/* Asks the script what of what is known is possible for a problem. */
static at_status ask_possible(portfolio *p, size_t problem, at_error *error)
{
    script *s;
    at_status status = portfolio_load_script(p, problem, &s, error);
    if (!status)
        known_ask(&p->known, problem, s);
    script_free(s);
    return status;
}

static bool may_be_given(const portfolio *p, size_t configuration, size_t problem)
{
    const known_configuration *c = &p->known.items[configuration];
    return !c->condemned && c->possible[problem] == 1 && configuration != p->known_default;
}

static bool contains(const size_t *list, size_t count, size_t item)
{
    size_t i = 0;
    while (i < count && list[i] != item)
        i++;
    return i < count;
}

/* The searched problems, the nearest first; the caller frees them. NULL: no memory. */
static size_t *nearest_searched(const portfolio *p, size_t problem, size_t *count)
{
    size_t *found = calloc(p->made_on + 1, sizeof *found);
    double *distances = calloc(p->made_on + 1, sizeof *distances);
    *count = 0;
    for (size_t q = 0; found && distances && q < p->made_on; q++) {
        if (!p->known.problems[q].searched || q == problem)
            continue;
        double d = portfolio_distance(p->asked->axes, p->asked->axis_count, portfolio_problem_at(p, q),
                                      portfolio_problem_at(p, problem));
        size_t at = (*count)++;
        for (; at > 0 && distances[at - 1] > d; at--) {
            found[at] = found[at - 1];
            distances[at] = distances[at - 1];
        }
        found[at] = q;
        distances[at] = d;
    }
    if (!distances) {
        free(found);
        found = NULL;
    }
    free(distances);
    return found;
}

/* The best of the searched problems, of the nearest first, then their seconds ...: as far as they are possible here. */
static at_status list_given(const portfolio *p, size_t problem, size_t given[MOST_GIVEN], size_t *count,
                            at_error *error)
{
    size_t searched, *nearest = nearest_searched(p, problem, &searched);
    *count = 0;
    if (!nearest)
        return known_no_memory(error);
    for (size_t rank = 0; rank < LEARNT; rank++)
        for (size_t i = 0; i < searched && *count < MOST_GIVEN; i++)
            for (size_t c = 0; c < p->known.count && *count < MOST_GIVEN; c++)
                if (known_has_rank(&p->known, c, nearest[i], rank) && !contains(given, *count, c) &&
                    may_be_given(p, c, problem))
                    given[(*count)++] = c;
    free(nearest);
    return AT_OK;
}

/* Searches a problem, beginning with what was good elsewhere; notes what that gained. */
static at_status search(portfolio *p, size_t problem, at_error *error)
{
    size_t given[MOST_GIVEN], count = 0;
    known_problem *at = &p->known.problems[problem];
    at_status status = p->known.count ? ask_possible(p, problem, error) : AT_OK;
    if (!status && p->known.count)
        status = list_given(p, problem, given, &count, error);
    if (status)
        return status;
    int64_t start_ns = clock_now_ns();
    uint64_t before = p->found.evaluations;
    status = run_on(p, problem, given, count, evaluations_of_next(p), true, "searched", error);
    p->search_s += (double)(clock_now_ns() - start_ns) / 1e9;
    p->search_evaluations += p->found.evaluations - before;
    if (status || !is_in(p, problem))
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

static bool has_default(const portfolio *p, size_t problem)
{
    return p->known_default != SIZE_MAX && p->known.items[p->known_default].possible[problem] == 1;
}

/* Times what is given, and the default, and nothing else. */
static at_status time_given(portfolio *p, size_t problem, const size_t *given, size_t count,
                            const char *what, at_error *error)
{
    if (count + has_default(p, problem) == 0)
        return search(p, problem, error);
    ahead_await(p->ahead, problem);
    return run_on(p, problem, given, count, count + has_default(p, problem), false, what, error);
}

/* Has compiled what time_given() will be given. */
static void prepare(const portfolio *p, size_t problem, const size_t *given, size_t count)
{
    const char *starts[SPENDING_MOST_EVERYWHERE];
    size_t all[SPENDING_MOST_EVERYWHERE], all_count = 0;
    residues_problem at;
    if (has_default(p, problem))
        all[all_count++] = p->known_default;
    for (size_t i = 0; i < count && all_count < SPENDING_MOST_EVERYWHERE; i++)
        all[all_count++] = given[i];
    set_starts(p, problem, all, all_count, starts, &at);
    ahead_queue(p->ahead, &at.settings, problem);
}

/* ---- what promises most ---- */

static double promise(const portfolio *p, size_t problem)
{
    double gains = 0, weights = 0;
    for (size_t q = 0; q < p->made_on; q++) {
        if (!p->known.problems[q].searched || p->known.problems[q].gain < 0)
            continue;
        double d = portfolio_distance(p->asked->axes, p->asked->axis_count, portfolio_problem_at(p, q),
                                      portfolio_problem_at(p, problem));
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
        if (is_in(p, i) && !p->known.problems[i].searched && promise(p, i) > *most) {
            *most = promise(p, i);
            best = i;
        }
    return best;
}

static at_status search_problems(portfolio *p, at_error *error)
{
    size_t first = first_searched(p), searched = 0;
    at_status status = AT_OK;
    for (size_t i = 0; i < p->made_on && searched < first && !status; i++) {
        if (searched > 0 && spent(p) >= search_share)
            break;
        status = search(p, i, error);
        searched += is_in(p, i);
    }
    double most;
    for (size_t next; !status && (next = most_promising(p, &most)) != SIZE_MAX;) {
        if (spent(p) >= search_share) {
            p->found.out_of_budget = true;
            break;
        }
        status = search(p, next, error);
    }
    return status;
}

/* ---- the matrix ---- */

/* Was something of the list nearly as fast on the problem as the best? */
static bool is_served(const portfolio *p, size_t problem)
{
    double enough_ns = p->known.problems[problem].best_ns * (1 + alike);
    for (size_t i = 0; i < p->everywhere_count; i++) {
        double time_ns = p->known.items[p->everywhere[i]].times_ns[problem];
        if (time_ns > 0 && time_ns <= enough_ns)
            return true;
    }
    return false;
}

static size_t most_everywhere(const portfolio *p)
{
    size_t problems = 0;
    if (!has_rate(p))
        return SPENDING_MOST_EVERYWHERE;
    for (size_t q = 0; q < p->made_on; q++)
        problems += is_in(p, q);
    return spending_everywhere(matrix_share * p->asked->run->budget_s - elapsed_s(p), problems, variant_s(p));
}

/* What was best on problems, each as long as nothing before it is alike; then, while there is room, what was best on
 * the others, and second best. */
static void list_everywhere(portfolio *p)
{
    size_t most = most_everywhere(p);
    for (size_t round = 0; round < 3; round++)
        for (size_t q = 0; q < p->made_on; q++)
            for (size_t c = 0; c < p->known.count && p->everywhere_count < most; c++)
                if (known_has_rank(&p->known, c, q, round / 2) && !p->known.items[c].condemned &&
                    c != p->known_default && !contains(p->everywhere, p->everywhere_count, c) &&
                    (round > 0 || !is_served(p, q)))
                    p->everywhere[p->everywhere_count++] = c;
    /* Nothing but the default works. */
    if (!p->everywhere_count && p->known_default != SIZE_MAX)
        p->everywhere[p->everywhere_count++] = p->known_default;
}

/* Of some configurations those that may be given on a problem. */
static at_status list_possible(portfolio *p, size_t problem, const size_t *from, size_t from_count, size_t *given,
                               size_t *count, at_error *error)
{
    at_status status = ask_possible(p, problem, error);
    *count = 0;
    for (size_t i = 0; i < from_count && !status; i++)
        if (may_be_given(p, from[i], problem))
            given[(*count)++] = from[i];
    return status;
}

static at_status fill_matrix(portfolio *p, at_error *error)
{
    at_status status = AT_OK;
    p->everywhere = calloc(SPENDING_MOST_EVERYWHERE, sizeof *p->everywhere);
    if (!p->everywhere)
        return known_no_memory(error);
    list_everywhere(p);
    for (size_t q = 0, filled = 0, next = 0; q < p->made_on && !status; q++) {
        size_t given[SPENDING_MOST_EVERYWHERE];
        if (!is_in(p, q))
            continue;
        if (filled >= first_searched(p) && spent(p) >= 1) {
            p->found.out_of_budget = true;
            status = known_leave_out(&p->known, q, "the budget was spent", error);
            continue;
        }
        filled++;
        for (; next < p->made_on && ahead_has_room(p->ahead) && !status; next++) {
            size_t count = 0;
            if (is_in(p, next) && next >= q)
                status = list_possible(p, next, p->everywhere, p->everywhere_count, given, &count, error);
            if (!status && count)
                prepare(p, next, given, count);
        }
        size_t count = 0;
        if (!status)
            status = list_possible(p, q, p->everywhere, p->everywhere_count, given, &count, error);
        if (!status)
            status = time_given(p, q, given, count, "side by side", error);
    }
    return status;
}

static bool is_new(const portfolio *p, size_t witness)
{
    size_t q = 0;
    while (q < p->problem_count && portfolio_distance(p->asked->axes, p->asked->axis_count, portfolio_problem_at(p, q),
                                                      portfolio_problem_at(p, witness)) > 0)
        q++;
    return q == p->problem_count;
}

static size_t list_chosen(const portfolio *p, size_t problem, size_t given[RECORD_MAX_KEPT])
{
    size_t count = 0;
    for (size_t i = 0; i < p->chosen_count; i++)
        if (may_be_given(p, p->chosen[i], problem))
            given[count++] = p->chosen[i];
    return count;
}

static bool chose_condemned(const portfolio *p)
{
    for (size_t i = 0; i < p->chosen_count; i++)
        if (p->known.items[p->chosen[i]].condemned)
            return true;
    return false;
}

static bool is_proof_missing(const portfolio *p, const size_t *given, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!p->known.items[given[i]].proven)
            return true;
    return false;
}

/* The next witness of the sequence, from `*at` on, that is a problem of the script's and is new; SIZE_MAX: none. */
static size_t next_witness(portfolio *p, size_t *at)
{
    while (*at < p->problem_count + p->witness_count) {
        size_t q = (*at)++;
        if (is_new(p, q) && ask_possible(p, q, NULL) == AT_OK)
            return q;
    }
    return SIZE_MAX;
}

static at_status time_witness(portfolio *p, size_t witness, bool late, at_error *error)
{
    size_t given[RECORD_MAX_KEPT], count = list_chosen(p, witness, given);
    at_status status = AT_OK;
    p->proves = is_proof_missing(p, given, count);
    if (count && (p->proves || !late))
        status = time_given(p, witness, given, count, "what was chosen", error);
    for (size_t i = 0; p->proves && i < count; i++)
        p->known.items[given[i]].proven = true;
    p->proves = false;
    return status;
}

/* Which of few is best is soon told, so that the tree learns from many problems; while the budget lasts. What
 * was chosen is proven on the way: proofs take longer than a GPU, and none of the runs before had any. */
static at_status time_witnesses(portfolio *p, at_error *error)
{
    const settings *o = p->asked->run;
    bool has_budget = o->budget_s > 0 || o->budget_evaluations > 0;
    size_t next_ones[WITNESSES_AHEAD], first = 0, count = 0, next = p->problem_count;
    at_status status = AT_OK;
    for (size_t timed = 0; !status && (has_budget || timed < TIMED_WITNESSES * p->made_on); timed++) {
        bool late = spent(p) >= 1;
        if (late && !is_proof_missing(p, p->chosen, p->chosen_count))
            break;
        for (size_t q; count < WITNESSES_AHEAD && (q = next_witness(p, &next)) != SIZE_MAX; count++) {
            size_t given[RECORD_MAX_KEPT], given_count = list_chosen(p, q, given);
            next_ones[(first + count) % WITNESSES_AHEAD] = q;
            prepare(p, q, given, given_count);
        }
        if (!count)
            break;
        status = time_witness(p, next_ones[first], late, error);
        first = (first + 1) % WITNESSES_AHEAD;
        count--;
        if (!status && chose_condemned(p))
            status = portfolio_choose(p, error);
    }
    return status ? status : portfolio_grow_tree(p, error);
}

/* Searches the problems that were held out, beginning with what was chosen; while the budget lasts. */
static at_status search_held_out(portfolio *p, at_error *error)
{
    at_status status = AT_OK;
    for (size_t q = p->made_on; q < p->problem_count && !status; q++) {
        size_t given[RECORD_MAX_KEPT];
        if (q > p->made_on && spent(p) >= 1) {
            p->found.out_of_budget = true;
            status = known_leave_out(&p->known, q, "the budget was spent", error);
            continue;
        }
        status = ask_possible(p, q, error);
        if (!status)
            status = run_on(p, q, given, list_chosen(p, q, given), p->evaluations_each, true,
                            "held out, searched", error);
        p->known.problems[q].searched = true;
    }
    return status;
}

static at_status try_all(portfolio *p, at_error *error)
{
    at_status status = search_held_out(p, error);
    /* A problem that was held out may show a mistake: then the choice is made again without it. */
    if (!status && chose_condemned(p))
        status = portfolio_choose(p, error);
    if (!status)
        status = portfolio_read_back(p, error);
    for (size_t q = 0; q < p->problem_count && !status; q++)
        status = portfolio_try_pick(p, q, error);
    p->found.made_on = portfolio_sum_up(p, false);
    p->found.held_out = portfolio_sum_up(p, true);
    p->kept.held_out = p->found.held_out.count;
    p->kept.mean_regret = p->found.held_out.mean;
    p->kept.worst_regret = p->found.held_out.worst;
    /* What was timed where is known now of all of them. */
    portfolio_set_draft(p, true);
    return status;
}

/* ---- the whole ---- */

static at_status open(portfolio *p, at_error *error)
{
    const portfolio_asked *a = p->asked;
    script *s = NULL;
    at_status status = target_check_script(a->run, error);
    if (!status)
        status = workers_open(&p->workers, a->run, error);
    if (!status)
        status = target_load_script(a->run, &p->workers.properties.limits, &s, error);
    if (status)
        return status;
    if (a->run->must_record && (!p->workers.device || p->workers.properties.predicted)) {
        script_free(s);
        return error_set(error, AT_USAGE,
                         "--record is refused: the times of a simulated device are predictions, and a record "
                         "holds measurements of a real GPU only");
    }
    p->found.device = p->workers.properties;
    const pattern *described = script_pattern(s);
    char text[CONFIGURATION_BYTES];
    script_format_configuration(s, described->baseline, text, sizeof text);
    p->default_text = strdup(text);
    p->pattern = strdup(described->name);
    for (size_t i = 0; i < a->axis_count && !status; i++) {
        bool known_name = false;
        for (size_t v = 0; v < described->problem_count; v++)
            known_name = known_name || strcmp(described->problems[PROBLEM_TUNED][v].name, a->axes[i].name) == 0;
        /* The script says it best. */
        if (!known_name) {
            value any = a->axes[i].value_count ? a->axes[i].values[0]
                                               : (value){.kind = VALUE_INTEGER, .integer = a->axes[i].most};
            script *none;
            status = residues_load(a->run, &p->workers.properties.limits, &a->axes[i], 1, &any, &none, error);
            script_free(none);
        }
    }
    script_free(s);
    if (!status && (!p->default_text || !p->pattern))
        status = known_no_memory(error);
    if (!status && a->run->record && p->workers.device && !p->workers.properties.predicted)
        status = record_check_writable(a->run->results_dir, p->workers.properties.limits.name, p->pattern,
                                       error);
    return status;
}

static at_status allocate(portfolio *p, at_error *error)
{
    p->kept.configurations = calloc(RECORD_MAX_KEPT, sizeof *p->kept.configurations);
    p->kept.nodes = calloc(RECORD_MAX_NODES, sizeof *p->kept.nodes);
    size_t rows = p->problem_count + p->witness_count + 1;
    p->rows = calloc(rows, sizeof *p->rows);
    p->row_times_ns = calloc(rows * RECORD_MAX_KEPT, sizeof *p->row_times_ns);
    p->pairs = calloc(rows * (RECORD_MAX_VALUES + PORTFOLIO_MAX_AXES), sizeof *p->pairs);
    p->tried = calloc(p->problem_count + 1, sizeof *p->tried);
    return p->kept.configurations && p->kept.nodes && p->rows && p->row_times_ns && p->pairs && p->tried
               ? AT_OK
               : known_no_memory(error);
}

static at_status keep(portfolio *p, at_error *error)
{
    if (!p->asked->run->record || p->found.device.predicted)
        return AT_OK;
    at_status status = draft_merge(p->asked->run->results_dir, &p->found.draft, p->found.record_path,
                                   sizeof p->found.record_path, error);
    if (p->journal && !status)
        journal_finish(p->journal, NULL);
    return status;
}

at_status portfolio_make(const portfolio_asked *asked, portfolio **out, at_error *error)
{
    portfolio *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return known_no_memory(error);
    p->asked = asked;
    p->known_default = SIZE_MAX;
    p->start_ns = clock_now_ns();
    at_status status = open(p, error);
    if (!status)
        status = choose_problems(p, error);
    if (!status)
        status = allocate(p, error);
    if (!status) {
        p->evaluations_each = evaluations_of_search(p);
        status = search_problems(p, error);
    }
    p->ahead = status ? NULL : ahead_new(asked->run, &p->workers.properties, p->known.problem_count);
    if (!status)
        status = fill_matrix(p, error);
    if (!status)
        status = portfolio_choose(p, error);
    if (!status)
        status = portfolio_set_fixed(p, error);
    if (!status)
        status = time_witnesses(p, error);
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
    p->found.wall_s = elapsed_s(p);
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
