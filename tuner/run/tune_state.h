/* The state of a run, which its stages share; tune.c runs the stages in order. Only tune*.c
 * and summarise.c include this header. */
#ifndef AUTOTUNE_RUN_TUNE_STATE_H
#define AUTOTUNE_RUN_TUNE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history/recorded.h"
#include "record/record.h"
#include "record/summary.h"
#include "report/progress.h"
#include "run/race/driver.h"
#include "run/race/race_log.h"
#include "run/recall.h"
#include "run/setup/session.h"
#include "run/tune.h"
#include "run/variant/pipeline.h"
#include "search/stopping.h"
#include "search/strategy.h"

/* Questions about a baseline that is the oracle (tune_oracle.c). `question` and `on` are valid
 * while `asked` is set: one problem is compared at a time. `is_wrong` and `disagreement` are never
 * cleared. */
typedef struct oracle_doubt {
    bool is_wrong;
    bool asked; /* the GPU was asked whether the simulated device computes the same results */
    device_question question; /* the request to the GPU */
    problem_kind on;          /* the problem of the request */
    char disagreement[1024];  /* text of the first disagreement; "" if there is none */
} oracle_doubt;

struct tune {
    /* Opened once, in this order; valid until the end of the run. */
    const settings *settings;
    int64_t start_ns;
    progress *progress;
    session session;
    run_summary summary;
    stopping_limits limits; /* limits of the search; `seconds` is for the whole run */
    bool has_baseline;
    uint64_t baseline; /* configuration of the script's default, if has_baseline */
    record recalled;   /* record with the entry `answer`, if that is set */
    const record_entry *answer;
    warm_start warm;
    strategy *strategy;
    journal *journal;
    race_log log;
    pipeline *pipeline;
    prover *prover; /* NULL if no GPU measures */

    /* Counters of the search. Of the `asked` candidates, `twins` cost no evaluation. */
    stopping stopping;
    bool settles;  /* without a limit: ends when no other variant is likely to win */
    double chance; /* strategy_chance() when `chance_at` outcomes had been learned */
    uint64_t chance_at;
    double search_from_s; /* start of the search, as tune_elapsed_s() */
    bool counts_opening;  /* the limit in seconds includes opening the device; false for a default
                             limit, because opening a large problem takes long */
    bool retraced;        /* the search was taken from the journal of an interrupted run */
    uint64_t asked, twins;
    uint64_t learned, uncompiled; /* outcomes that the strategy knows; failures to compile */
    size_t proof_next;            /* the next candidate to prove with --prove all */

    /* Predicted outcomes are equal in every run. If `in_order`, the strategy learns them in the
     * order of its proposals and proposes after each, so that the search is equal, too. */
    bool in_order;
    size_t
        told; /* if in_order: the number of leading candidates whose outcomes the strategy knows */

    /* Number of variants that a quick run tries in any case: the starts, or a few. */
    size_t first;

    oracle_doubt oracle;
    race_driver *driver; /* NULL if there was no race */
    run_end end;
};

/* ---- the stages: tune_open.c, tune_search.c, tune_race.c ----
 *
 * Each stage leaves its findings in the state, however it ends. An interrupt (t->end) is no
 * failure. A stage returns AT_DEVICE or a similar status if the device is lost for good. */
at_status tune_open(tune *t, at_error *error);
at_status tune_search(tune *t, at_error *error);
at_status tune_race(tune *t, at_error *error);

/* Tells the strategy and the counters the outcome of a finished candidate. */
void tune_learn(tune *t, candidate *c);

/* Opens the race's part of the journal, for the GPU that runs the race. */
void tune_open_race_log(tune *t);

/* Ranks the candidates by their first samples, if the device was lost before the race began. */
void tune_rank_unraced(tune *t);

/* Races the winner and the other finalists on all other GPUs of the session, because chips of one
 * model differ, and waits for these GPUs (tune_race.c). Warns in the summary of GPUs on which
 * another finalist wins clearly and of lost GPUs (no error), and tells on how many GPUs no other
 * finalist wins. */
at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error);

/* ---- tune_limits.c: when a quick run must race ---- */

/* Returns true if it is too late for a quick run to begin another variant, because the variant
 * would be compiled only when the race should begin. Until the first variants are tried, the length
 * of the race is unknown, and the time to compile the winner for its proof is used instead. */
bool tune_is_late(const tune *t);

/* Returns true if a quick run must begin its race after the device's current variant. */
bool tune_is_quick_enough(const tune *t);

/* Fills t->summary from the findings of the stages: ranking, figures, counts, warnings. A rate is
 * work / median time. The ceiling is traffic / median time of a copy of as many bytes. The speed-up
 * is the ratio of paired times if both variants were in the finals, otherwise of medians. */
at_status tune_summarise(tune *t, at_error *error);

/* ---- tune_oracle.c: a baseline that is the oracle ----
 *
 * Both functions begin the next piece of work. With `waits` they wait some seconds for its end. */

/* Begins the proof of the baseline once the baseline was tried, and waits for its end if `waits` is
 * set. Returns AT_SCRIPT if the baseline is known to be wrong: then no measurement is worth
 * keeping. */
at_status tune_judge_oracle(tune *t, bool waits, at_error *error);

/* Compares the baseline's results on the GPU with its results on the simulated device, one problem
 * per call, or all if `waits` is set. If they differ, no variant counts as proven any more. */
at_status tune_compare_devices(tune *t, bool waits, at_error *error);

/* ---- tune_limits.c: what a run may do, and how long ---- */

double tune_elapsed_s(const tune *t);
/* Return the end of search and race, as tune_elapsed_s(), and the end of the run, after checks and
 * proofs, as clock_now_ns(). Both return 0 without a limit in seconds. */
double tune_race_end_s(const tune *t);
int64_t tune_end_ns(const tune *t);
bool tune_races(const tune *t);      /* Returns true if the run ends in a race. */
bool tune_is_quick(const tune *t);   /* The run has no budget and must answer in seconds. */
int64_t tune_best_ns(const tune *t); /* Returns the fastest time of the leader in ns, or 0. */
size_t tune_samples(const tune *t);  /* Returns the number of first samples of a variant. */
bool tune_proofs_pending(const tune *t);

/* Returns the candidate of the script's default, or NULL if it was not tried. */
candidate *tune_tried_baseline(const tune *t);

/* Returns the most variants that the search may try. Twins do not count. */
uint64_t tune_evaluations(const tune *t);

/* Returns true if the time of the run is up (session.end_ns). */
bool tune_is_over(const tune *t);

/* Returns true if the user or SIGTERM has interrupted the run. Prints a line the first time. */
bool tune_interrupted(tune *t);
/* Returns AT_OK if an interrupt or the end of the time ended a stage, otherwise `status`. */
at_status tune_unless_interrupted(tune *t, at_status status, at_error *error);

#endif
