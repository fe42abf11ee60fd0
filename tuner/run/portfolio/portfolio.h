/* A portfolio: few configurations that serve a range of problems, and a tree that chooses among
 * them.
 *
 * In: settings, and the variables with their ranges. Out: the portfolio, what it loses on the
 * problems it was made on and on others that were held out, and a record where a GPU measured.
 *
 * The budget is spent as follows. Problems are taken in the order in which each is farthest from
 * all before it.
 *   1. The first few are searched as a run would, each beginning with what was best on those
 * before.
 *   2. Then, one after the other, the problem whose search promises most: what searching gained
 * over what was known, on the searched problems near it (weighted by 1/(1/2 + d)^2, d the distance
 * in doublings). Each gets its share of a budget in seconds, if only for a few dozen variants: a
 * problem that nothing was searched on costs more than a search that was short. Searching ends
 * where half a percent is no more to be expected, or a good half of the budget is spent.
 *   3. The configurations that are good somewhere and promise to serve most (portfolio/shortlist.h)
 * are timed everywhere, in one race a problem, so that the times compare.
 *   4. Finalists, twice as many as are kept, are timed on further problems, for two fifths of what
 * is left of the budget (without one, on as many): near equals are told apart by many problems.
 *   5. Configurations are chosen (portfolio/cover.h), and timed on further problems as long as the
 * budget lasts (without one, on three times as many). The tree (portfolio/tree.h) is grown on these
 * times and on those that are expected elsewhere (portfolio/kriging.h). The configurations are
 * proven meanwhile.
 *   6. Each problem that was held out is searched as well, and given what a reader of the record
 * would be (record/pick.h), in one race. A configuration that was wrong or crashed on one problem
 * is given for none.
 *
 * Every run is a part of this one (settings.is_part): when it is interrupted the same command takes
 * what was measured from the journal and comes the same way. */
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
    const settings *run;  /* budgets are of the whole; the effort is a search's */
    portfolio_axis *axes; /* their divisors are found and filled in */
    size_t axis_count;
    size_t problem_count; /* to be made on */
    size_t held_out;
    size_t most; /* configurations, RECORD_MAX_KEPT at most */
} portfolio_asked;

/* A problem, and what a reader of the record gets for it. */
typedef struct portfolio_tried {
    const value *values;  /* one an axis */
    const char *left_out; /* why; NULL: it is in */
    bool held_out, searched;
    int64_t best_ns, baseline_ns; /* 0: not known, impossible */
    const char *rule;             /* "portfolio", "default" ...; NULL: nothing is given */
    size_t place;                 /* among the portfolio's configurations; SIZE_MAX: none of them */
    int64_t time_ns;              /* of what is given; 0: it was not timed */
    double regret;                /* by how much that is slower than the best */
} portfolio_tried;

typedef struct portfolio_regret {
    size_t count; /* problems */
    double mean, worst;
    size_t slower; /* of them where it is slower than the default, beyond noise */
} portfolio_regret;

typedef struct portfolio portfolio;

/* The findings, all owned by the portfolio. */
typedef struct portfolio_found {
    portfolio_draft draft;
    device_properties device;
    size_t tried_count;
    const portfolio_tried *tried;
    portfolio_regret made_on, held_out;
    double single_mean; /* of the one configuration that loses least alone, over problems where it
                           is possible */
    size_t refused;     /* problems that the script does not allow */
    const char *refused_why; /* the first; "" */
    uint64_t evaluations;
    double wall_s;
    bool out_of_budget;
    char record_path[4096]; /* empty: none was written */
} portfolio_found;

/* Makes a portfolio. AT_USAGE, AT_SCRIPT, AT_NO_DEVICE ... as tune_run(); AT_NOT_FOUND if no
 * problem had a variant that worked; AT_INTERRUPTED. The caller frees *out (NULL after an
 * error). */
at_status portfolio_make(const portfolio_asked *asked, portfolio **out, at_error *error);
void portfolio_free(portfolio *p); /* NULL is fine */

const portfolio_found *portfolio_get_found(const portfolio *p);

#endif
