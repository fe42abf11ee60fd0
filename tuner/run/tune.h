/* A tuning run: search, race, summary, record.
 *
 * The search asks for configurations. Each becomes a candidate, which the pipeline compiles, checks
 * and times. variant/variant.h has the table of a candidate's stages; tune_state.h has the state of
 * the run.
 *
 * Input: settings. Output: a summary (record/summary.h), and a record in the results folder if a
 * GPU was measured. A run that ends early (a budget, an interrupt, a lost device) leaves a summary
 * of everything that it found by then. */
#ifndef AUTOTUNE_RUN_TUNE_H
#define AUTOTUNE_RUN_TUNE_H

#include "base/error.h"
#include "record/summary.h"
#include "run/setup/settings.h"

typedef struct tune tune;

/* Runs to the end. The summary can be read if *out is not NULL, also after AT_INTERRUPTED and
 * AT_DEVICE. The caller frees *out with tune_free(). */
at_status tune_run(const settings *o, tune **out, at_error *error);
void tune_free(tune *t); /* `t` may be NULL. */

const run_summary *tune_summary(const tune *t);

/* Takes the journal of a run that is a part of a longer one (settings.is_part). The caller owns the
 * journal (journal_close) and finishes it when the longer run is complete; until then the run can
 * be resumed. Returns NULL if the run has no journal. */
struct journal *tune_take_journal(tune *t);

#endif
