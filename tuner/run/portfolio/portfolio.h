/* A portfolio: few configurations that serve a range of problems, and a tree that chooses among
 * them.
 *
 * Input: settings, and the variables with their ranges. Output: the portfolio, its loss on its
 * problems and on held-out problems, and a record if a GPU measured.
 *
 * The budget is spent in these steps. The problems are ordered so that each is the farthest from
 * all problems before it.
 * 1. The first few problems are searched as single runs would search them. Each search begins with
 * the best configurations of the problems before.
 * 2. Then, again and again, the problem is searched whose search promises most. The promise is the
 * mean gain of earlier searches over the known configurations, weighted by 1/(1/2 + d)^2, with d
 * the distance of the problems in doublings. If time is short, some problems are not searched,
 * because very short searches find nothing. This step ends when less than half a percent is
 * expected, or half of the budget is spent.
 * 3. The most promising configurations (portfolio/cover.h) are timed on all problems, in one race
 * per problem, so that their times can be compared.
 * 4. Finalists, twice as many as the portfolio keeps, are timed on further problems, for two fifths
 * of the remaining budget (without a budget: on as many problems). Many problems distinguish
 * configurations that are nearly equal.
 * 5. Configurations are chosen (portfolio/cover.h), proven, and timed on further problems as long
 * as the budget lasts (without a budget: on three times as many). The tree (portfolio/tree.h) is
 * grown on these times and on the times predicted for other problems (portfolio/kriging.h).
 * 6. Each held-out problem is searched, too, and its winner races with the configuration that a
 * reader gets (record/pick.h).
 *
 * A configuration that was wrong or crashed on one problem is given for no problem. Every run is a
 * part of this run (settings.is_part). After an interruption the same command takes the
 * measurements from the journal and repeats the same steps. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_PORTFOLIO_H
#define AUTOTUNE_RUN_PORTFOLIO_PORTFOLIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/device.h"
#include "portfolio/problems.h"
#include "record/merge.h"
#include "run/setup/settings.h"

typedef struct portfolio_asked {
    const settings *run;  /* budgets are for the whole portfolio; the effort is for one search */
    portfolio_axis *axes; /* portfolio_make() fills in the divisors of the axes */
    size_t axis_count;
    size_t problem_count; /* number of problems on which the portfolio is made */
    size_t held_out;
    size_t most; /* most configurations of the portfolio, up to RECORD_MAX_KEPT */
} portfolio_asked;

/* A problem, and the configuration that a reader of the record gets for it. */
typedef struct portfolio_tried {
    const value *values;  /* one for each axis */
    const char *left_out; /* reason why the problem does not take part; NULL if it does */
    bool held_out, searched;
    int64_t best_ns, baseline_ns; /* 0 if unknown or impossible */
    const char *rule; /* "portfolio", "default" ...; NULL if no configuration is given */
    size_t place; /* index in the portfolio's configurations; SIZE_MAX for another configuration */
    int64_t time_ns; /* time of the given configuration; 0 if it was not timed */
    double regret;   /* slowdown of the given configuration against the best */
} portfolio_tried;

typedef struct portfolio_regret {
    size_t count; /* number of problems */
    double mean, worst;
    size_t slower; /* problems on which the given configuration is slower than the default */
} portfolio_regret;

typedef struct portfolio portfolio;

typedef struct portfolio_found {
    portfolio_draft draft;
    device_properties device;
    size_t tried_count;
    const portfolio_tried *tried;
    portfolio_regret made_on, held_out;
    double single_mean; /* mean loss of the single configuration that loses least, over the problems
                           where it is possible */
    size_t refused;     /* number of problems that the script does not allow */
    const char *refused_why; /* the first reason for a refusal, or "" */
    uint64_t evaluations;
    double wall_s;
    bool out_of_budget;
    char record_path[4096]; /* "" if no record was written */
} portfolio_found;

/* Makes a portfolio. Returns the errors of tune_run(), AT_NOT_FOUND if no variant worked on any
 * problem, or AT_INTERRUPTED. The caller frees *out, which is NULL after an error. */
at_status portfolio_make(const portfolio_asked *asked, portfolio **out, at_error *error);
void portfolio_free(portfolio *p); /* `p` may be NULL. */

/* Returns the findings, which the portfolio owns. */
const portfolio_found *portfolio_get_found(const portfolio *p);

#endif
