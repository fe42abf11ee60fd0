/* A tuning run: search, race, summary, record.
 *
 * In: settings. Out: a summary (record/summary.h), and a record in the results folder when a
 * GPU was measured. Whatever ends the run early (a budget, an interrupt, a device that is gone)
 * leaves the summary of what was found until then. */
#ifndef AUTOTUNE_RUN_TUNE_H
#define AUTOTUNE_RUN_TUNE_H

#include "base/error.h"
#include "record/summary.h"
#include "run/setup/settings.h"

typedef struct tune tune;

/* Runs to the end. On AT_OK, and whenever *out is not NULL, the summary can be read; free it with
 * tune_free(). AT_INTERRUPTED and AT_DEVICE come with what was measured. */
at_status tune_run(const settings *o, tune **out, at_error *error);
void tune_free(tune *t); /* NULL is fine */

const run_summary *tune_summary(const tune *t);

/* Of a run that is a part of something longer (settings.is_part), which is to finish its journal when
 * that is complete; the same run is resumed until then. The caller's (journal_close); NULL: it has none. */
struct journal *tune_take_journal(tune *t);

#endif
