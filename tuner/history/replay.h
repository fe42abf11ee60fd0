/* Replays recorded measurements: a strategy searches a borrowed, recorded space. Nothing is
 * compiled or run. The result is the quality of the best configuration after a number of
 * evaluations and after a recorded time: means over seeds, and scores against random search. */
#ifndef AUTOTUNE_HISTORY_REPLAY_H
#define AUTOTUNE_HISTORY_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history/recorded.h"

enum { REPLAY_MARKS = 12, REPLAY_POINTS = 50 };

typedef struct replay_options {
    const char *strategy; /* NULL for the default */
    uint64_t evaluations; /* evaluations of a run; 0 for as many as the scores need */
    uint64_t seed;        /* seed of the first run; each further run adds 1 */
    size_t repeat;        /* number of runs, at least 1 */
    size_t batch;         /* configurations requested at a time, at least 1 */
} replay_options;

/* The mean share of the optimum's performance at one point of the curve. */
typedef struct replay_mark {
    uint64_t evaluations;
    double seconds; /* mean time of these evaluations in random search */
    double share, share_in_time, random_share;
} replay_mark;

typedef struct replay_result {
    const char *strategy; /* the strategy that ran, also if the default chose it */
    uint64_t space_count, failed;
    double optimum;
    uint64_t budget_evaluations; /* range over which scores are averaged */
    double budget_s;
    size_t mark_count;
    replay_mark marks[REPLAY_MARKS];       /* 1, 2, 5, 10, 20, 50 ... */
    double score, score_in_time;           /* relative to the exact expectation of random search */
    double rank_score, rank_score_in_time; /* relative to the methodology's baseline */
} replay_result;

/* Runs the strategy. AT_USAGE if it is unknown, AT_NOT_FOUND if no recorded configuration works. */
at_status replay_run(const recorded_space *rs, const replay_options *options, replay_result *out,
                     at_error *error);

/* ---- scores ---- */

/* Scores compare a search with random search on the same, completely measured space. A failed
 * configuration is an evaluation that finds nothing; until a working one is found, the cost is the
 * worst one's. Source: Willemsen, Schoonhoven, Filipovic, Tørring, van Nieuwpoort, van Werkhoven,
 * "A methodology for comparing optimization algorithms for auto-tuning", FGCS 159 (2024). */

typedef struct score_space {
    double *costs; /* costs of the configurations that work, ascending; owned */
    size_t works;
    uint64_t count; /* number of all configurations, with failed ones */
} score_space;

/* Copies and sorts the costs; a cost that is not finite means failure. AT_NOT_FOUND if all failed.
 * After AT_OK the caller calls score_space_deinit(). */
at_status score_space_init(score_space *s, const double *costs, size_t count, at_error *error);
void score_space_deinit(score_space *s);

/* Return the best, the worst and the median cost of the working configurations. */
double score_optimum(const score_space *s);
double score_worst(const score_space *s);
double score_median(const score_space *s);

/* Returns the expected lowest cost of m configurations drawn without replacement: the sum over
 * ranks i of cost(i) C(N - i, m - 1) / C(N, m). m is at least 1, and is limited to N. */
double score_random_cost(const score_space *s, uint64_t m);

/* Returns the expected optimum / lowest cost, counted as 0 if none of m configurations works. */
double score_random_share(const score_space *s, uint64_t m);

/* Returns the methodology's baseline, the round(m (N + 1) / (m + 1))-th value from the worst. It is
 * the cost at the expected rank, not the expected cost, and so it favours the search. */
double score_rank_cost(const score_space *s, uint64_t m);

/* Returns the evaluations after which random search is expected to be 95 % of the way from the
 * median to the optimum. A score is averaged over this budget. */
uint64_t score_budget(const score_space *s);

/* Returns the mean of (baseline - found) / (baseline - optimum) over the points where the baseline
 * is not the optimum: 1 if the optimum is found at once, 0 if the search is as good as the baseline
 * or no point counts, negative if it is worse. */
double score_curve(const score_space *s, const double *baseline, const double *found,
                   size_t points);

#endif
