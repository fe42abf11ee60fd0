/* The state of a run, which its stages share; tune.c runs them in order. No other file than tune.c
 * and tune_*.c includes this. */
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

/* ---- predict.c ----
 *
 * Predicted times of a whole space, for a search that follows them.
 *
 * In: a session. Out: a predicted time for each configuration. Variants are emitted and compiled to
 * PTX in the session's pool, a bounded number at a time, while threads run samples of the compiled
 * ones on a simulated device of the session's architecture. Configurations come in random order:
 * where a budget does not suffice for all, those that are predicted are a fair sample. */
/* The largest space that is predicted: each configuration costs a compilation. */
enum { PREDICT_MAX_CONFIGURATIONS = 20000 };

typedef struct predict_options {
    const char *results_dir; /* where what was measured of the GPU is kept */
    uint64_t seed;           /* of the order */
    int64_t start_ns;        /* of the run, monotonic */
    double budget_s;    /* of the run; of which it takes half at most, for a counted number; 0: no
                           limit */
    progress *progress; /* borrowed; shows the stage "predicting"; NULL: silent */
} predict_options;

typedef struct prediction {
    double *times_ns;   /* owned; by configuration. INFINITY: does not compile, does not fit or
                           faults. NAN: it is not among those predicted */
    uint64_t count;     /* of the space */
    uint64_t reached;   /* predicted, or found not to work */
    uint64_t predicted; /* those that have a time */
} prediction;

/* Predicts for the problem that the session tunes. The session needs a pool, a space and plans, but
 * no device. Afterwards the pool is empty. AT_USAGE: the space is larger than
 * PREDICT_MAX_CONFIGURATIONS, or nothing is known of the chip. AT_INTERRUPTED: a signal came; the
 * pool may still hold work. AT_SCRIPT, AT_NO_MEMORY, AT_NO_TOOLCHAIN. The caller calls
 * prediction_deinit, also after a failure. */
at_status predict_space(session *s, const predict_options *o, prediction *out, at_error *error);
void prediction_deinit(prediction *p);

/* ---- the state ---- */

/* Questions about a baseline that says which results are right (run/tune_oracle.c). One problem
 * is compared at a time: `question` and `on` mean something while `asked`. Once it is wrong, or
 * there is a disagreement, it stays so. */
typedef struct oracle_doubt {
    bool is_wrong;
    bool asked;               /* the GPU is, whether the simulated device computes the same, */
    device_question question; /* with this, */
    problem_kind on;          /* on this problem */
    char disagreement[1024];  /* in words, the first; "": there is none */
} oracle_doubt;

struct tune {
    /* Opened once, in this order, and there until the end. */
    const settings *settings;
    int64_t start_ns;
    progress *progress;
    session session;
    run_summary summary;
    stopping_limits limits; /* of the search; seconds: of the whole run */
    bool has_baseline;
    uint64_t baseline; /* configuration */
    record recalled;   /* answers instead of a search, when `answer` is set */
    const record_entry *answer;
    warm_start warm;
    prediction prior; /* where the strategy wants one */
    strategy *strategy;
    journal *journal;
    race_log log;
    pipeline *pipeline;
    prover *prover;                  /* where a GPU measures; else NULL */
    uint32_t search_lane, race_lane; /* of the trace */

    /* The search's account: of the `asked` configurations, `twins` cost nothing, because another
     * stands for them. */
    stopping stopping;
    bool settles;  /* nobody said how much to search: it ends when nothing that is left is likely
                      to win (RUN_END_SETTLED) */
    double chance; /* strategy_chance() when `chance_at` candidates were learned */
    uint64_t chance_at;
    double search_from_s; /* as tune_elapsed_s() */
    bool counts_opening;  /* the time limit is of all; else, until the device is ready, no time
                             counts: nobody asked for the limit, and a large problem takes long */
    bool retraced;        /* the journal knew what the search had tried */
    uint64_t asked, twins;
    uint64_t learned, uncompiled; /* of which so many did not compile */
    size_t proof_next;            /* candidate, with --prove all */

    /* A strategy that learns asks for the same each time only if it is told the same in the same
     * order. No two runs are alike if outcomes are measured. If they are predicted, or there are
     * none, it is told in the order in which it asked, and asks after each that it is told. */
    bool in_order;
    size_t told; /* then: candidates, the first ones */

    /* A quick run tries `first` variants in any case: what is named beforehand, or a few. */
    size_t first;

    oracle_doubt oracle;
    race_driver *driver; /* NULL: there was no race */
    run_end end;
};

/* ---- the stages: tune_open.c, tune_search.c, tune_race.c ----
 *
 * Each leaves what it found in the state, however it ends. An interrupt is no failure (see t->end).
 * AT_DEVICE and similar if the device is lost for good. */
at_status tune_open(tune *t, at_error *error);
at_status tune_search(tune *t, at_error *error);
at_status tune_race(tune *t, at_error *error);

/* Takes a finished candidate into account. */
void tune_learn(tune *t, candidate *c);

/* Opens the race's part of the journal, for the GPU that runs the race. */
void tune_open_race_log(tune *t);

/* Ranks what was measured as it stands: the device was lost before the race began. */
void tune_rank_unraced(tune *t);

/* ---- tune_race.c: chips of one model differ, and a record speaks for all of them ---- */

/* Races the winner and the other finalists on every other GPU of the session. Warnings of the
 * summary say where another one wins clearly, and on how many GPUs none does. It waits for the
 * devices. A GPU that is lost on the way is reported too, and is no error. */
at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error);

/* ---- tune.c: when a quick run must race ---- */

/* The rough number of entrants that a race of the tried variants samples. */
size_t tune_likely_entrants(const tune *t);

/* Tells whether it is too late for a quick run to begin another variant: compiled in the time of
 * the first ones or of the leader, it would be done only when the race should begin. The length of
 * that race is not known before the first are tried: the winner is compiled for its proof, at
 * least. */
bool tune_is_late(const tune *t);

/* Is it time for a quick run's race, once the variant that the device is at is done? */
bool tune_is_quick_enough(const tune *t);

/* ---- summarise.c ---- */

/* Fills t->summary from what the stages found: ranking, figures, counts, warnings. Formulas: rate =
 * work / median time; ceiling = traffic / median time of a copy that moves as many bytes; speed-up
 * = ratio of the paired times if both were in the finals, else of the medians. */
at_status tune_summarise(tune *t, at_error *error);

/* ---- tune_oracle.c: doubts about a baseline that is the oracle ----
 *
 * Both begin what is due. `waits`: for its end, too, for some seconds. */

/* Begins the proof of the baseline, once it was tried. AT_SCRIPT once it is known to be wrong:
 * nothing that was measured is worth keeping then. */
at_status tune_judge_oracle(tune *t, bool waits, at_error *error);

/* Holds what the baseline computes on the GPU against what it computes on the simulated device, one
 * problem a call as long as some are left. What differs leaves nothing proven. */
at_status tune_compare_devices(tune *t, bool waits, at_error *error);

/* ---- tune.c: what a run may do, and how long ---- */

double tune_elapsed_s(const tune *t);
/* A budget of time is for the whole run: when search and race have to be over, as
 * tune_elapsed_s(), so that some is left for checks and proofs, and when these are waited for no
 * longer, as clock_now_ns(). Both are 0 where there is no such budget. */
double tune_race_end_s(const tune *t);
int64_t tune_end_ns(const tune *t);
bool tune_races(const tune *t);    /* does this run end in a race? */
bool tune_is_quick(const tune *t); /* is it to answer within seconds, with no budget of its own? */
int64_t tune_best_ns(const tune *t);   /* of the leader, in ns; 0: there is none */
size_t tune_samples(const tune *t);    /* first samples of a variant */
bool tune_owns_workers(const tune *t); /* they end with it */
bool tune_proofs_pending(const tune *t);
const candidate *tune_tried_baseline(const tune *t); /* NULL: it was not tried */

/* The most variants that the search may try; twins do not count. */
uint64_t tune_evaluations(const tune *t);

/* Must the run end, because its time is up? */
bool tune_is_over(const tune *t);

/* Did the user, or SIGTERM, end the run? Prints a line the first time. */
bool tune_interrupted(tune *t);
/* Returns AT_OK if a stage ended because of an interrupt or because its time was up, else `status`.
 */
at_status tune_unless_interrupted(tune *t, at_status status, at_error *error);

#endif
