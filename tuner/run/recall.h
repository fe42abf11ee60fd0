/* Recall: what a record already answers.
 *
 * A record that took as much effort as is asked for now, with the same script and template, is
 * final: nothing is measured, its result is reported. What others have recorded is where a search begins. */
#ifndef AUTOTUNE_RUN_RECALL_H
#define AUTOTUNE_RUN_RECALL_H

#include <stdbool.h>

#include "base/error.h"
#include "record/record.h"
#include "record/summary.h"
#include "run/setup/session.h"
#include "search/stopping.h"

/* Looks for a final entry for the run that `s` describes (pattern, problem, device, cache mode,
 * objective and hashes are set). On true *out holds the record, which the caller frees, and *entry
 * is in it. A record that is missing or cannot be read answers nothing. */
bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry);

/* Makes the entry the run's result, with what was recorded of its time. The record must outlive the summary. */
at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error);

/* What is worth trying first, by the records of the pattern that are known: winners, then who came next to
 * them, in the order in which a program would pick them for this GPU and problem (record/pick.h); of other
 * GPUs and problems too, as far as they are configurations of the space. At most `most`, each once; *count 0
 * where nothing is recorded, which is no error. AT_NO_MEMORY. */
at_status recall_starts(const session *s, const char *results_dir, uint64_t *out, size_t most, size_t *count,
                        at_error *error);

#endif
