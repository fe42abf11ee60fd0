/* A tuning run: search, race, summary, record.
 *
 * Each configuration that the search asks for becomes a candidate, which the pipeline compiles,
 * checks and times. variant/stage.h has the table of the states that it goes through; tune_state.h
 * has the state of the run.
 *
 * In: settings. Out: a summary (record/summary.h), and a record in the results folder if a GPU was
 * measured. A run that ends early (a budget, an interrupt, a lost device) leaves a summary of what
 * it found until then. */
#ifndef AUTOTUNE_RUN_TUNE_H
#define AUTOTUNE_RUN_TUNE_H

#include "base/error.h"
#include "record/summary.h"
#include "run/setup/settings.h"

typedef struct tune tune;

/* Runs to the end. The summary can be read whenever *out is not NULL, also after AT_INTERRUPTED and
 * AT_DEVICE; free it with tune_free(). */
at_status tune_run(const settings *o, tune **out, at_error *error);
void tune_free(tune *t); /* NULL is fine */

const run_summary *tune_summary(const tune *t);

/* Takes the journal of a run that is part of something longer (settings.is_part), which finishes
 * the journal when it is complete itself; until then the run can be resumed. The caller owns it
 * (journal_close); NULL if there is none. */
struct journal *tune_take_journal(tune *t);

#endif
