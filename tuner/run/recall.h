/* Recall: what a record answers already.
 *
 * A record is final if it was made with the same script and template, and with as much effort as is
 * asked for now: then nothing is measured and its result is reported. Otherwise, what is recorded
 * gives a search its first configurations. */
#ifndef AUTOTUNE_RUN_RECALL_H
#define AUTOTUNE_RUN_RECALL_H

#include <stdbool.h>

#include "base/error.h"
#include "record/record.h"
#include "record/summary.h"
#include "run/setup/session.h"
#include "search/stopping.h"

/* Looks for a final entry for the run that `s` describes (its pattern, problem, device, cache mode,
 * objective and hashes are set). If it returns true, the caller owns *out, the record that *entry
 * is in. A record that is missing or unreadable answers nothing. */
bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry);

/* Makes the entry the result of the run, with the recorded times. The record must outlive the
 * summary. */
at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error);

/* Lists what is worth trying first, from the known records of the pattern: the winners, then the
 * configurations that came next to them, in the order in which a program would pick them for this
 * GPU and problem (record/pick.h). Records of other GPUs and problems count too, where their
 * configurations are in the space. Returns how many, at most `most`, each once. */
size_t recall_starts(const session *s, const char *results_dir, uint64_t *out, size_t most);

#endif
