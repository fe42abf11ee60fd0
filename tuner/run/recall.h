/* Answers from records, in place of a run or at its start.
 *
 * A record is final if it was made with the same script and template, and with at least the effort
 * that is asked for now. Its result is then reported and nothing is measured. Otherwise its
 * configurations are the first ones that a search tries. */
#ifndef AUTOTUNE_RUN_RECALL_H
#define AUTOTUNE_RUN_RECALL_H

#include <stdbool.h>

#include "base/error.h"
#include "record/record.h"
#include "record/summary.h"
#include "run/setup/session.h"
#include "search/stopping.h"

/* Finds a final entry for the run that `s` describes: pattern, problem, device, cache mode,
 * objective and hashes are set. Returns true if there is one; the caller then owns *out, the record
 * of *entry. A record that is missing or cannot be read counts as none. */
bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry);

/* Makes the entry the result of the run, with the recorded times. The record must outlive the
 * summary. */
at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error);

/* Lists the configurations to try first, from all known records of the pattern: the winners, then
 * the contenders, in the order in which a program would pick them for this GPU and problem
 * (record/pick.h). Records of other GPUs and problems count if their configurations are in the
 * space. Returns the number of configurations, at most `most`, each once. */
size_t recall_starts(const session *s, const char *results_dir, uint64_t *out, size_t most);

#endif
