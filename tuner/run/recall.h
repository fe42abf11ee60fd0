/* Recall: what a record already answers.
 *
 * A record that took as much effort as is asked for now, with the same script and template, is
 * final: nothing is measured, its result is reported. */
#ifndef AUTOTUNE_RUN_RECALL_H
#define AUTOTUNE_RUN_RECALL_H

#include <stdbool.h>

#include "base/error.h"
#include "record/record.h"
#include "record/summary.h"
#include "search/stopping.h"

/* Looks for a final entry for the run that `s` describes (pattern, problem, device, cache mode,
 * objective and hashes are set). On true *out holds the record, which the caller frees, and *entry
 * is in it. A record that is missing or cannot be read answers nothing. */
bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry);

/* Makes the entry the run's result, with what was recorded of its time. The record must outlive the summary. */
at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error);

#endif
