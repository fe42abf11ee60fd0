/* A portfolio in the making: runs.c measures a problem, choice.c chooses, witnesses.c grows the
 * tree, and portfolio.c has them do it. No one else includes this. */
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
 * Finds which divisors of a problem's variables the constraints of a script ask for: those that
 * make further configurations possible.
 *
 * It asks the script: of the configurations that are possible for a problem with many divisors,
 * which are possible for a problem of nearly the same size that is a multiple of 4, and which for
 * one that is a multiple of 2 but not of 4? So it does not matter how the script spells its
 * constraints. Powers of two up to 32 are taken unasked: a script may narrow its vectors where they
 * do not divide, so that all configurations are possible everywhere and yet not the same; and rows
 * of whole sectors (eight floats) and of whole lines of the caches (32) suit other ones.
 * (Cross-validated on recorded portfolios, with 16 and 32 the choice for a transpose loses less,
 * for sums a little less, for products and a convolution as much.) */
/* A problem as settings, for tune_run(). */
typedef struct residues_problem {
    settings settings;
    char texts[PORTFOLIO_MAX_AXES][300];
} residues_problem;

/* `base` with the axes' variables set. */
void residues_settings(const settings *base, const portfolio_axis *axes, size_t axis_count,
                       const value *problem, residues_problem *out);

/* Loads the script for the problem. The caller frees *out, which is NULL after a failure. Errors as
 * target_load_script(). */
at_status residues_load(const settings *base, const arch_limits *limits, const portfolio_axis *axes,
                        size_t axis_count, const value *problem, script **out, at_error *error);

/* Fills in the divisors of the axes that are ranges: powers of 2 up to 64, 3, 9, 5 and 7, as far as
 * they occur in the range. They stay empty if the script has no configuration for such a problem.
 * AT_NO_MEMORY, or the error of the script. */
at_status residues_find(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                        size_t axis_count, at_error *error);

/* ---- ahead.c ----
 *
 * Compiles ahead: what a run is going to need is in the cache of compiled kernels when it begins.
 *
 * A run on a few known configurations waits for their compilation longer than for the GPU. Compile
 * workers of their own compile the references and variants of the next problems while a run
 * measures. Nothing here can fail a run: what is not compiled ahead, the run compiles. */
typedef struct ahead ahead;

/* Starts the workers, for `numbers` runs on that device. NULL: there is no cache, or no worker. The
 * caller calls ahead_free(). */
ahead *ahead_new(const settings *o, const device_properties *of, size_t numbers);
void ahead_free(ahead *a); /* NULL is fine, here and below */

/* Is there so little under way that workers will soon be idle? False without workers. */
bool ahead_has_room(ahead *a);

/* Queues what a run with these settings compiles of its starts, where the variables have these
 * values. `number`, below `numbers`, is the caller's. */
void ahead_queue(ahead *a, const settings *run, const pattern_variable *values, size_t count,
                 size_t number);

/* Waits until all that was queued under the number is compiled, or a signal comes. */
void ahead_await(ahead *a, size_t number);

/* ---- searches.c: budgets ----
 *
 * How a budget of seconds is spent: variants of a search, configurations that are timed everywhere.
 *
 * Both come in steps, so that a resumed run, whose times are others, asks alike. */
enum {
    SPENDING_LEAST_SEARCHED = 128, /* variants of a search that has to be short */
    SPENDING_LEAST_EVERYWHERE = 16,
    SPENDING_MOST_EVERYWHERE = 48
};

/* Variants of the next search, a power of 2, if `left_s` seconds are for `problems` that are not
 * searched yet, at `variant_s` for each; 0: no limit is needed, for there is time for `normal`. A
 * search that tries little beside what is good elsewhere finds nothing: rather than that, it is of
 * SPENDING_LEAST_SEARCHED, and not all are searched. */
size_t spending_search(double left_s, size_t problems, double variant_s, uint64_t normal);

/* Configurations that there is time for on each of the problems: 16, 32 or 48. */
size_t spending_everywhere(double left_s, size_t problems, double variant_s);

/* ---- the state ---- */

struct portfolio {
    const portfolio_asked *asked;
    portfolio_found found;
    workers workers;
    int64_t start_ns;
    char *pattern, script_hash[33], template_hash[33], date[32];
    script *script; /* with the values of the latest problem that was asked */
    char *default_text;
    size_t known_default; /* place; SIZE_MAX: not met yet */
    value *problems;
    size_t problem_count, made_on; /* made_on: the first ones; the others are held out */
    size_t witness_count;          /* after all those */
    known known;
    ahead *ahead;            /* while known configurations are timed; NULL: without */
    size_t evaluations_each; /* of a search; 0: the effort's */
    double search_s;         /* what searches took */
    uint64_t search_evaluations;
    bool proves;      /* what the next run tries */
    journal *journal; /* of all its runs, finished when it is complete; NULL: none yet */
    at_error refused; /* why a problem is none of the script's: the first */
    size_t refused_count;
    /* The choice. */
    size_t *everywhere, everywhere_count; /* places */
    size_t chosen[RECORD_MAX_KEPT], chosen_count;
    record_portfolio kept;
    record_feature features[PATTERN_MAX_FEATURES]; /* of the script */
    portfolio_axis facts[PORTFOLIO_MOST_AXES];     /* the axes, then features of what was chosen */
    size_t fact_count;
    draft_problem *rows;
    int64_t *row_times_ns;
    record_pair *pairs; /* of the rows' problems */
    record given;       /* the portfolio as a reader has it */
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

/* Is the script's default, which was met and asked for, possible? */
static inline bool portfolio_has_default(const portfolio *p, size_t problem)
{
    return p->known_default != SIZE_MAX && p->known.items[p->known_default].possible[problem] == 1;
}

/* Does it take part? */
static inline bool portfolio_is_in(const portfolio *p, size_t problem)
{
    return !p->known.problems[problem].left_out;
}

enum { PORTFOLIO_RANKS = 8 }; /* of a run so many are learnt: the fastest */

/* ---- runs.c ---- */

double portfolio_elapsed_s(const portfolio *p);

/* One run on a problem that begins with some of what is known; `evaluations` 0: those of the
 * effort. `what` is shown. */
at_status portfolio_run(portfolio *p, size_t problem, const size_t *given, size_t given_count,
                        size_t evaluations, bool is_search, const char *what, at_error *error);

/* Is it possible on the problem, which was asked, and wrong nowhere? The default is never given. */
bool portfolio_may_be_given(const portfolio *p, size_t configuration, size_t problem);

/* The share of the budget that is spent: 1 and more, all. Without a budget it stays below. */
double portfolio_spent(const portfolio *p);

/* Asks the script, once, which of some configurations, and whether the default, are possible.
 * Whether it takes the problem at all is not asked. */
at_status portfolio_ask_possible(portfolio *p, size_t problem, const size_t *places, size_t count,
                                 at_error *error);

/* Fills in the features among p->facts for a problem. */
at_status portfolio_tell_features(portfolio *p, size_t problem, value *out, at_error *error);

/* Lists the chosen configurations that may be given on a problem, which was asked. Returns how
 * many. */
size_t portfolio_list_chosen(const portfolio *p, size_t problem, size_t given[RECORD_MAX_KEPT]);

/* Was a configuration wrong somewhere after it was chosen? */
bool portfolio_chose_condemned(const portfolio *p);

/* Times what is given, and the default, and nothing else. `what` is shown. */
at_status portfolio_time_given(portfolio *p, size_t problem, const size_t *given, size_t count,
                               const char *what, at_error *error);

/* Has compiled, meanwhile, what portfolio_time_given() will be given. */
void portfolio_prepare(const portfolio *p, size_t problem, const size_t *given, size_t count);

/* ---- searches.c ---- */

/* How many problems are searched in any case. */
size_t portfolio_first_searched(const portfolio *p);

/* Are there times to judge by how far a budget of seconds goes? */
bool portfolio_has_rate(const portfolio *p);

/* The time of a variant of a search, where there are such times. */
double portfolio_variant_s(const portfolio *p);

/* Searches a problem, beginning with what was good elsewhere; notes what that gained. */
at_status portfolio_search(portfolio *p, size_t problem, at_error *error);

/* Searches the first problems, then those that promise most, as far as the budget goes. */
at_status portfolio_search_problems(portfolio *p, at_error *error);

/* Searches the problems that were held out, beginning with what was chosen; while the budget
 * lasts. */
at_status portfolio_search_held_out(portfolio *p, at_error *error);

/* ---- choice.c ---- */

/* Leaves of p->everywhere those that promise most, twice as many as are kept at the most, and takes
 * them for chosen. */
void portfolio_narrow(portfolio *p);

/* Chooses configurations from p->everywhere. AT_NOT_FOUND: nothing works. */
at_status portfolio_choose(portfolio *p, at_error *error);

/* Sets, in p->kept, the variables that are no axes. */
at_status portfolio_set_fixed(portfolio *p, at_error *error);

/* ---- witnesses.c ---- */

/* Times those that may be chosen, narrowed, on witnesses, as long as a part of the budget lasts
 * that is left. */
at_status portfolio_time_finalists(portfolio *p, at_error *error);

/* Times what was chosen on witnesses, as long as the budget lasts. */
at_status portfolio_time_witnesses(portfolio *p, at_error *error);

/* Grows the tree for what was chosen, from all that is timed by now, but for what is held out. */
at_status portfolio_grow_tree(portfolio *p, at_error *error);

/* Makes p->found.draft from what is known, with or without the problems that are held out. */
void portfolio_set_draft(portfolio *p, bool with_held_out);

/* Reads the chosen portfolio back as readers of the record will. */
at_status portfolio_read_back(portfolio *p, at_error *error);

/* Sets, in p->tried, what a reader gets for a problem. */
at_status portfolio_try_pick(portfolio *p, size_t problem, at_error *error);

portfolio_regret portfolio_sum_up(const portfolio *p, bool held_out);

#endif
