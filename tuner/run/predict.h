/* Predicted times of a whole space, for a search that follows them.
 *
 * In: a session. Out: a predicted time for each configuration. Variants are emitted and compiled to
 * PTX in the session's pool, a bounded number at a time, while threads run samples of the compiled
 * ones on a simulated device of the session's architecture. Configurations come in random order:
 * where a budget does not suffice for all, those that are predicted are a fair sample. */
#ifndef AUTOTUNE_RUN_PREDICT_H
#define AUTOTUNE_RUN_PREDICT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/progress.h"
#include "run/setup/session.h"

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

#endif
