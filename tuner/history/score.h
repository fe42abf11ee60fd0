/* How good a search was, against random search on the same space.
 *
 * In: the costs of all configurations of a space that was measured whole. Out: the exact
 * expectation of what random search without replacement has found after m evaluations, and the
 * score of a search against it. A failed configuration is an evaluation that finds nothing; before
 * anything is found, the cost is that of the worst configuration that works.
 *
 * Score and budget: Willemsen, Schoonhoven, Filipovic, Tørring, van Nieuwpoort, van Werkhoven, "A
 * methodology for comparing optimization algorithms for auto-tuning", FGCS 159 (2024). */
#ifndef AUTOTUNE_HISTORY_SCORE_H
#define AUTOTUNE_HISTORY_SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct score_space {
    double *costs; /* of the configurations that work, ascending; owned */
    size_t works;
    uint64_t count; /* with those that failed */
} score_space;

/* Copies and sorts `costs`; those that are not finite failed. AT_NOT_FOUND when all did. */
at_status score_space_init(score_space *s, const double *costs, size_t count, at_error *error);
void score_space_deinit(score_space *s);

double score_optimum(const score_space *s);
double score_worst(const score_space *s);
double score_median(const score_space *s);

/* Expected lowest cost among m configurations drawn without replacement: the sum over ranks i of
 * cost(i) C(N - i, m - 1) / C(N, m). m is at least 1; beyond the space's size it is the size. */
double score_random_cost(const score_space *s, uint64_t m);

/* Expected share of the optimum's performance (optimum / lowest cost; 0 while nothing works). */
double score_random_share(const score_space *s, uint64_t m);

/* The methodology's own baseline: the round(m (N + 1) / (m + 1))-th value from the worst. It is the
 * cost at the expected rank, not the expected cost, and so favours the search. */
double score_rank_cost(const score_space *s, uint64_t m);

/* Evaluations after which random search is expected to be 95 % of the way from the median to the
 * optimum: the budget over which a score is averaged. */
uint64_t score_budget(const score_space *s);

/* Mean over `points` of (baseline - found) / (baseline - optimum): 1 is finding the optimum at
 * once, 0 is as good as the baseline, negative is worse. Points where the baseline is the optimum
 * do not count; 0 when none does. */
double score_curve(const score_space *s, const double *baseline, const double *found,
                   size_t points);

#endif
