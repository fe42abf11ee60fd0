/* Replays recorded measurements: a strategy searches a space with known outcomes. Nothing is
 * compiled or run.
 *
 * Input: a recorded space, borrowed, and options. Output: the quality of the best configuration
 * after a number of evaluations and after a recorded time, as means over seeds, compared with
 * random search and as scores. */
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

/* Runs the strategy `repeat` times. AT_USAGE if the strategy is unknown, AT_NOT_FOUND if no
 * recorded configuration works. */
at_status replay_run(const recorded_space *rs, const replay_options *options, replay_result *out,
                     at_error *error);

/* ---- scores ---- */

/* Scores compare a search with random search on the same, completely measured space.
 *
 * A failed configuration is an evaluation that finds nothing. Until a working configuration is
 * found, the cost is the worst one's. Source of score and budget: Willemsen, Schoonhoven,
 * Filipovic, Tørring, van Nieuwpoort, van Werkhoven, "A methodology for comparing optimization
 * algorithms for auto-tuning", FGCS 159 (2024). */

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

/* Returns the expected lowest cost among m configurations drawn without replacement: the sum over
 * ranks i of cost(i) C(N - i, m - 1) / C(N, m). m is at least 1, and is limited to the size of the
 * space. */
double score_random_cost(const score_space *s, uint64_t m);

/* Returns the expected share of the optimum's performance, optimum / lowest cost; 0 as long as no
 * configuration works. */
double score_random_share(const score_space *s, uint64_t m);

/* Returns the baseline of the methodology: the round(m (N + 1) / (m + 1))-th value from the worst.
 * This is the cost at the expected rank, not the expected cost, and so it favours the search. */
double score_rank_cost(const score_space *s, uint64_t m);

/* Returns the evaluations after which random search is expected to be 95 % of the way from the
 * median to the optimum. A score is averaged over this budget. */
uint64_t score_budget(const score_space *s);

/* Returns the mean over `points` of (baseline - found) / (baseline - optimum): 1 if the optimum is
 * found at once, 0 if the search is as good as the baseline, negative if it is worse. Points where
 * the baseline is the optimum do not count; returns 0 if none counts. */
double score_curve(const score_space *s, const double *baseline, const double *found,
                   size_t points);

#endif
