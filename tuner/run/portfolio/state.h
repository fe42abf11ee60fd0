/* The state of a portfolio under construction. runs.c measures a problem, choice.c chooses,
 * witnesses.c grows the tree, portfolio.c calls them. Only this folder includes this header. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_STATE_H
#define AUTOTUNE_RUN_PORTFOLIO_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/arch.h"
#include "device/device.h"
#include "journal/journal.h"
#include "portfolio/problems.h"
#include "record/record.h"
#include "run/portfolio/known.h"
#include "run/portfolio/portfolio.h"
#include "run/setup/settings.h"
#include "run/setup/workers.h"
#include "script/script.h"

/* ---- residues.c ----
 *
 * Finds the divisors of a problem's variables that make further configurations possible.
 *
 * Asks the script which configurations are possible for a problem with many divisors, and which of
 * these for problems of nearly the same size with one divisor less. So the wording of the
 * constraints does not matter. Powers of two up to 32 always count, for two reasons. A script may
 * use narrower vectors where they do not divide a variable: all configurations are then possible
 * everywhere, but differ in speed. And rows of whole sectors (8 floats) or cache lines (32) suit
 * other configurations. (Cross-validated on recorded portfolios: with 16 and 32 the choice loses
 * less for a transpose, a little less for sums, and as much for products and a convolution.) */
typedef struct residues_problem {
    settings settings;
    char texts[PORTFOLIO_MAX_AXES][300];
} residues_problem;

/* Sets the axes' variables in a copy of `base`. */
void residues_settings(const settings *base, const portfolio_axis *axes, size_t axis_count,
                       const value *problem, residues_problem *out);

/* Loads the script for a problem, with target_load_script()'s errors. The caller frees *out, which
 * is NULL after a failure. */
at_status residues_load(const settings *base, const arch_limits *limits, const portfolio_axis *axes,
                        size_t axis_count, const value *problem, script **out, at_error *error);

/* Fills in the divisors of axes that are ranges: powers of 2 up to 64, 3, 9, 5 and 7, if they
 * matter. Leaves the divisors empty if no problem with many divisors has a configuration. Errors:
 * AT_NO_MEMORY or the script's. */
at_status residues_find(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                        size_t axis_count, at_error *error);

/* ---- ahead.c ----
 *
 * A run on a few known configurations waits longer for their compilation than for the GPU. So
 * separate workers compile the references and variants of the next problems into the cache while a
 * run measures. If these workers fail, each run compiles by itself. */
typedef struct ahead ahead;

/* Starts the workers for `numbers` runs on the device `of`. Returns NULL without a cache or a
 * worker. The caller calls ahead_free(). */
ahead *ahead_new(const settings *o, const device_properties *of, size_t numbers);
void ahead_free(ahead *a); /* In these functions `a` may be NULL. */

/* Returns true if the workers will soon be idle, false without workers. */
bool ahead_has_room(ahead *a);

/* Queues everything that a run with these settings compiles for its start configurations, on a
 * problem with these values. The caller chooses `number`, below `numbers`. */
void ahead_queue(ahead *a, const settings *run, const pattern_variable *values, size_t count,
                 size_t number);

/* Waits until everything that was queued under `number` is compiled, or a signal comes. */
void ahead_await(ahead *a, size_t number);

/* ---- searches.c: budgets ----
 *
 * Divides a budget in seconds among searches and timed configurations, in coarse steps, so that a
 * resumed run, whose times differ, gets the same numbers. */
enum {
    SPENDING_LEAST_SEARCHED = 128, /* variants of the shortest search */
    SPENDING_LEAST_EVERYWHERE = 16,
    SPENDING_MOST_EVERYWHERE = 48
};

/* Returns the variants of the next search, a power of 2, if `left_s` seconds are left for
 * `problems` unsearched problems at `variant_s` per variant; 0 if there is time for `normal`
 * variants on all problems. Fewer than SPENDING_LEAST_SEARCHED variants find nothing better than
 * the known configurations, so some problems are not searched if time is short. */
size_t spending_search(double left_s, size_t problems, double variant_s, uint64_t normal);

/* Returns the number of configurations to time on each problem: 16, 32 or 48. */
size_t spending_everywhere(double left_s, size_t problems, double variant_s);

/* ---- the state ---- */

struct portfolio {
    const portfolio_asked *asked;
    portfolio_found found;
    workers workers;
    int64_t start_ns;
    char *pattern, script_hash[33], template_hash[33], date[32];
    script *script; /* script, loaded for the latest problem that it evaluated */
    char *default_text;
    size_t known_default; /* index of the default in `known`; SIZE_MAX before it is known */
    value *problems;
    size_t problem_count,
        made_on; /* the first `made_on` problems make the portfolio, the others are held out */
    size_t witness_count; /* further problems, after the held-out ones */
    known known;
    ahead *ahead;            /* NULL except while known configurations are timed */
    size_t evaluations_each; /* variants of a search; 0 if the effort decides */
    double search_s;         /* time of the searches so far */
    uint64_t search_evaluations;
    bool proves;      /* the next run proves its variants */
    journal *journal; /* journal of all runs, which ends with the portfolio; NULL at first */
    at_error refused; /* the first reason why the script refused a problem */
    size_t refused_count;
    /* The choice; configurations are indices in the table of known configurations. */
    size_t *everywhere, everywhere_count;
    size_t chosen[RECORD_MAX_KEPT], chosen_count;
    record_portfolio kept;
    record_feature features[PATTERN_MAX_FEATURES]; /* features of the script */
    portfolio_axis facts[PORTFOLIO_MOST_AXES];     /* the axes, then the features in use */
    size_t fact_count;
    draft_problem *rows;
    int64_t *row_times_ns;
    record_pair *pairs; /* problems of the rows */
    record given;       /* the portfolio as read from the record */
    portfolio_tried *tried;
};

static inline const value *portfolio_problem_at(const portfolio *p, size_t problem)
{
    return &p->problems[problem * p->asked->axis_count];
}

/* Loads the script for a problem. The caller frees *out, which is NULL after a failure. */
static inline at_status portfolio_load_script(const portfolio *p, size_t problem, script **out,
                                              at_error *error)
{
    return residues_load(p->asked->run, &p->found.device.limits, p->asked->axes,
                         p->asked->axis_count, portfolio_problem_at(p, problem), out, error);
}

static inline bool portfolio_is_held_out(const portfolio *p, size_t problem)
{
    return problem >= p->made_on && problem < p->problem_count;
}

static inline bool portfolio_has_default(const portfolio *p, size_t problem)
{
    return p->known_default != SIZE_MAX && p->known.items[p->known_default].possible[problem] == 1;
}

static inline bool portfolio_is_in(const portfolio *p, size_t problem)
{
    return !p->known.problems[problem].left_out;
}

enum { PORTFOLIO_RANKS = 8 }; /* number of fastest configurations of a run that are kept */

/* ---- runs.c ---- */

double portfolio_elapsed_s(const portfolio *p);

/* Runs on a problem, beginning with the `given` configurations. `evaluations` is 0 if the effort
 * decides. `what` names the stage in the progress. */
at_status portfolio_run(portfolio *p, size_t problem, const size_t *given, size_t given_count,
                        size_t evaluations, bool is_search, const char *what, at_error *error);

/* Returns true if a configuration is possible on the problem, wrong on no problem, and not the
 * default. */
bool portfolio_may_be_given(const portfolio *p, size_t configuration, size_t problem);

/* Returns the spent share of the budget, 1 or more if all is spent, 0 without a budget. */
double portfolio_spent(const portfolio *p);

/* Asks the script whether the configurations at `places`, and the default, are possible on a
 * problem. */
at_status portfolio_ask_possible(portfolio *p, size_t problem, const size_t *places, size_t count,
                                 at_error *error);

/* Writes the values of the features among p->facts for a problem. */
at_status portfolio_tell_features(portfolio *p, size_t problem, value *out, at_error *error);

/* Lists the chosen configurations that may be given on a problem. Returns their number. */
size_t portfolio_list_chosen(const portfolio *p, size_t problem, size_t given[RECORD_MAX_KEPT]);

/* Returns true if a configuration was wrong somewhere after it was chosen. */
bool portfolio_chose_wrong(const portfolio *p);

/* Times only the given configurations and the default. `what` names the stage in the progress. */
at_status portfolio_time_given(portfolio *p, size_t problem, const size_t *given, size_t count,
                               const char *what, at_error *error);

/* Compiles, in advance, the configurations of a later portfolio_time_given(). */
void portfolio_prepare(const portfolio *p, size_t problem, const size_t *given, size_t count);

/* ---- searches.c ---- */

/* Returns the number of problems that are searched before all others. */
size_t portfolio_first_searched(const portfolio *p);

/* Returns true if the budget is in seconds and a search has shown what a variant costs. */
bool portfolio_has_rate(const portfolio *p);

/* Returns the mean time of a variant in the searches so far, in s. */
double portfolio_variant_s(const portfolio *p);

/* Searches a problem, beginning with configurations good on other problems. Notes the gain. */
at_status portfolio_search(portfolio *p, size_t problem, at_error *error);

/* Searches the first problems, then the problems that promise most, while the budget lasts. */
at_status portfolio_search_problems(portfolio *p, at_error *error);

/* Searches the held-out problems, beginning with the chosen configurations, within the budget. */
at_status portfolio_search_held_out(portfolio *p, at_error *error);

/* ---- choice.c ---- */

/* Chooses the most promising of p->everywhere, at most twice as many as the portfolio keeps. */
void portfolio_narrow(portfolio *p);

/* Chooses configurations from p->everywhere. Returns AT_NOT_FOUND if no configuration works. */
at_status portfolio_choose(portfolio *p, at_error *error);

/* Sets, in p->kept, the variables that are not axes. */
at_status portfolio_set_fixed(portfolio *p, at_error *error);

/* ---- witnesses.c ---- */

/* Times the narrowed configurations on witnesses, for a part of the remaining budget. */
at_status portfolio_time_finalists(portfolio *p, at_error *error);

/* Times the chosen configurations on witnesses, while the budget lasts. */
at_status portfolio_time_witnesses(portfolio *p, at_error *error);

/* Grows the tree for the chosen configurations from all times, except on held-out problems. */
at_status portfolio_grow_tree(portfolio *p, at_error *error);

/* Makes p->found.draft from the findings, with or without the held-out problems. */
void portfolio_set_draft(portfolio *p, bool with_held_out);

/* Reads the chosen portfolio as readers of the record will. */
at_status portfolio_read_back(portfolio *p, at_error *error);

/* Sets the entry of p->tried for a problem: the configuration that a reader gets. */
at_status portfolio_try_pick(portfolio *p, size_t problem, at_error *error);

/* Sums up the regret on the problems of the portfolio, or on held-out problems. */
portfolio_regret portfolio_sum_up(const portfolio *p, bool held_out);

#endif
