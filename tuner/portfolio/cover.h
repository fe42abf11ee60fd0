/* Chooses a few configurations for many problems, from the time of each configuration on each
 * problem: first a shortlist of configurations that are worth timing on all problems, then the
 * final cover. */
#ifndef AUTOTUNE_PORTFOLIO_COVER_H
#define AUTOTUNE_PORTFOLIO_COVER_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* A ratio is the time of a configuration on a problem over the time of the problem's best
 * configuration: at least 1, or 0 if the configuration is impossible on the problem. */
typedef struct portfolio_matrix {
    size_t problem_count, configuration_count;
    const double *ratios;   /* one row of configurations for each problem */
    const double *defaults; /* ratio of the script's default, one for each problem */
} portfolio_matrix;

/* Returns whether a configuration is possible on a problem and faster than the default. If not, a
 * reader of the record takes the next configuration, and finally the default. */
static inline bool portfolio_serves(const portfolio_matrix *m, size_t problem, size_t configuration)
{
    double ratio = m->ratios[problem * m->configuration_count + configuration];
    double fallback = m->defaults[problem];
    return ratio > 0 && (fallback <= 0 || ratio * (1 + RECORD_NOISE) < fallback);
}

/* The ratio of a problem on which nothing is possible, not even the default. */
#define PORTFOLIO_UNCOVERED 1000.0

/* ---- covers ----
 *
 * As in facility location, every problem uses the chosen configuration that is fastest on it. If no
 * chosen configuration serves the problem, it uses the script's default, which does not count as
 * chosen. The choice is greedy. After each added configuration, single configurations are exchanged
 * while that lowers the loss (Teitz & Bart, "Heuristic methods for estimating the generalized
 * vertex median of a weighted graph", 1968). */

/* Returns whether the list has the configuration. */
bool portfolio_contains(const size_t *list, size_t count, size_t configuration);

/* Returns the loss on a problem with these configurations, relative to the problem's best. */
double portfolio_loss_of(const portfolio_matrix *m, size_t problem, const size_t *chosen,
                         size_t count);

/* Chooses 1 to `most` configurations (0 if the matrix has no configurations). Chooses more than k
 * only if each further configuration lowers the mean relative loss by `least_gain` on average.
 * `chosen` has room for `most`; *loss is the mean loss. Returns the number chosen. */
size_t portfolio_cover(const portfolio_matrix *m, size_t most, double least_gain, size_t *chosen,
                       double *loss);

/* ---- shortlists ----
 *
 * A shortlist has the configurations that are timed on every problem. Before, searches timed each
 * configuration on some problems only. A configuration that is best on one problem by a hair is
 * worth less than a configuration that is nearly best wherever it was tried. A missing time is set
 * to the mean of the configuration's other times. This mean is drawn towards the mean of all
 * configurations, more if the configuration has fewer times. The list is chosen greedily as in
 * facility location; a problem's second and third best configurations count, too.
 *
 * Test (tests/bench/portfolio_sets): every configuration was timed on 82 problems of summing
 * columns. With 12 listed configurations, the best six lose 1.0 % on problems that were not
 * searched, and lose more than 4 % on 1.5 of 100 problems. If the list has the fastest
 * configuration of each search instead, the figures are 1.1 % and 3.1. With 20 listed
 * configurations they are 1.0 % and 1.7, instead of 1.0 % and 2.1. */

/* Ratios with a special meaning in the matrix of a shortlist. */
enum { SHORTLIST_UNKNOWN = -1, SHORTLIST_IMPOSSIBLE = 0 };

/* Lists at most `most` configurations that are possible on some problem. Returns the number. */
size_t portfolio_shortlist(const portfolio_matrix *m, size_t most, size_t *list);

#endif
