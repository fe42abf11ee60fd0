/* A tuning run: search, race, summary, record. The search asks for configurations. Each becomes a
 * candidate (stages: variant/variant.h), which the pipeline compiles, checks and times.
 *
 * The result is a summary (record/summary.h), and a record in the results folder if a GPU measured.
 * A run that ends early (a budget, an interrupt, a lost device) summarises everything that it
 * found. */
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

/* Returns the summary, which the run owns. */
const run_summary *tune_summary(const tune *t);

/* Takes the journal of a part of a longer run (settings.is_part). Returns NULL if the run has no
 * journal. The longer run can be resumed until its end; then the caller finishes the journal and
 * closes it. */
struct journal *tune_take_journal(tune *t);

#endif
