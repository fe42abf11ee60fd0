/* Makes the summary of a run from what its stages found: ranking, figures, counts, warnings. */
#ifndef AUTOTUNE_RUN_SUMMARISE_H
#define AUTOTUNE_RUN_SUMMARISE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/summary.h"
#include "run/race/driver.h"
#include "run/setup/session.h"
#include "run/setup/settings.h"
#include "run/variant/pipeline.h"

typedef struct summarise_input {
    const settings *settings;
    const session *session;
    const pipeline *pipeline;
    race_driver *driver;    /* NULL: nothing was raced */
    const journal *journal; /* NULL: none is kept */
    const char *strategy;   /* static storage */
    bool has_baseline;
    uint64_t baseline;      /* configuration */
    stopping_limits limits; /* that the run had */
    run_end end;
    int64_t start_ns; /* of the run, clock_now_ns() */
} summarise_input;

/* Fills a summary that run_summary_init() made. Formulas: rate = work / median time; ceiling =
 * traffic / median time of a copy that moves as many bytes; speed-up = ratio of the paired times if
 * both were in the finals, else of the medians. */
at_status summarise(const summarise_input *in, run_summary *out, at_error *error);

#endif
