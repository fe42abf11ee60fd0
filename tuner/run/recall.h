/* Answers from records, in place of a run or at its start. A record made with the same script and
 * template, and with at least the requested effort, is final: its result is reported and nothing is
 * measured. Other records tell a search which configurations to try first. */
#ifndef AUTOTUNE_RUN_RECALL_H
#define AUTOTUNE_RUN_RECALL_H

#include <stdbool.h>

#include "base/error.h"
#include "record/record.h"
#include "record/summary.h"
#include "run/setup/session.h"
#include "search/stopping.h"

/* Finds a final entry for the pattern, problem, device, cache mode, objective and hashes of `s`,
 * from a run of the effort `wanted` or a higher one. Skips unreadable records. After true the
 * caller owns *out, the record of *entry. */
bool recall_find(const char *results_dir, const run_summary *s, effort wanted, record *out,
                 const record_entry **entry);

/* Makes the entry the result of the run, with its recorded times. `r` must outlive `s`. */
at_status recall_fill(const record *r, const record_entry *entry, run_summary *s, at_error *error);

/* Lists at most `most` distinct configurations to try first, from all known records of the pattern:
 * winners, then contenders, in the order in which a program would pick them for this GPU and
 * problem (record/pick.h). All are in the space, also those from other GPUs and problems. Returns
 * the number. */
size_t recall_starts(const session *s, const char *results_dir, uint64_t *out, size_t most);

#endif
