/* Replaying recorded measurements: a strategy searches a space whose outcomes are known.
 *
 * In: a recorded space, borrowed, and what to run. Out: how good the best configuration was after
 * how many evaluations and how much recorded time, as means over seeds, beside random search and as
 * scores (history/score.h). Nothing is compiled or run. */
#ifndef AUTOTUNE_HISTORY_REPLAY_H
#define AUTOTUNE_HISTORY_REPLAY_H

#include <stdint.h>

#include "base/error.h"
#include "history/space.h"

enum { REPLAY_MARKS = 12, REPLAY_POINTS = 50 };

typedef struct replay_options {
    const char *strategy; /* NULL: the default */
    uint64_t evaluations; /* of a run; 0: as many as the scores need */
    uint64_t seed;        /* of the first run; each later one has the next */
    size_t repeat;        /* runs, at least 1 */
    size_t batch;         /* configurations outstanding at a time, at least 1 */
} replay_options;

/* Mean share of the optimum's performance at one point of the curve. */
typedef struct replay_mark {
    uint64_t evaluations;
    double seconds; /* that random search takes for them: the same point on the time axis */
    double share, share_in_time, random_share;
} replay_mark;

typedef struct replay_result {
    const char *strategy; /* the kind that ran (what the default chose) */
    uint64_t space_count, failed;
    double optimum;
    uint64_t budget_evaluations; /* over which scores are averaged */
    double budget_s;
    size_t mark_count;
    replay_mark marks[REPLAY_MARKS];       /* 1, 2, 5, 10, 20, 50 ... */
    double score, score_in_time;           /* against the exact expectation of random search */
    double rank_score, rank_score_in_time; /* against the methodology's baseline */
} replay_result;

/* Runs the strategy `repeat` times. Errors: AT_USAGE for an unknown strategy, AT_NOT_FOUND when no
 * recorded configuration works, AT_NO_MEMORY. */
at_status replay_run(const recorded_space *rs, const replay_options *options, replay_result *out,
                     at_error *error);

#endif
