/* The journal: every outcome is written to a file at once, so that an interrupted run continues
 * where it stopped.
 *
 * One append-only file of JSON lines (journal/line.h) a pattern and GPU, under
 * $XDG_STATE_HOME/autotune/journal (else ~/.local/state/...). A variant's key covers everything
 * that its outcome depends on (journal/key.h), so that an entry is valid as long as its key is
 * found. journal_finish() at the end of a complete run discards its entries: the same command then
 * measures again.
 *
 * A crash at any moment costs at most the line being written; a damaged line is skipped and
 * counted. Several runs may append to the same file at once, a whole line at a time. When the disk
 * refuses a line, that is reported once and the run continues; the line is written with the
 * next. */
#ifndef AUTOTUNE_JOURNAL_JOURNAL_H
#define AUTOTUNE_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "journal/key.h"
#include "journal/line.h"

typedef struct journal journal;

/* The default folder. AT_NOT_FOUND when neither XDG_STATE_HOME nor HOME is set. */
at_status journal_folder(char *out, size_t out_bytes, at_error *error);

/* Opens the journal of the facts' pattern and GPU in `folder` (made when missing), and loads the
 * entries of unfinished runs under the same facts. AT_IO also when another user owns or may write
 * the folder or the file. Damaged lines are only counted. */
at_status journal_open(const char *folder, const journal_facts *facts, journal **out,
                       at_error *error);

/* Flushes to the disk and closes, keeping the entries for the next run. NULL is fine. */
void journal_close(journal *j);

/* The key of a variant, from its identity, under the facts that the journal was opened with and on
 * a GPU of the run (journal_entry.gpu): one GPU's measurements are not used for another. */
journal_key journal_key_on(const journal *j, size_t gpu, journal_key variant);

/* Says which GPU that is, where the facts did not: nothing is appended for it before. */
void journal_name_gpu(journal *j, size_t gpu, const char *uuid);

/* Does the file have entries of unfinished runs, under whatever facts? Those of a GPU that was not
 * named when it was opened were not loaded. */
bool journal_has_unfinished(const journal *j);

/* The key of a race on a GPU under those facts; `plan` describes the race as text. */
journal_key journal_key_of_race(const journal *j, size_t gpu, const char *plan);

/* The entry of an unfinished run, or of this one; false when there is none. A view, valid until the
 * next append. */
bool journal_find(const journal *j, journal_key key, journal_entry *out);

/* Appends an entry, which replaces an earlier one of the same key. AT_IO once, when the file first
 * refuses a line (full disk); later calls return AT_OK, and lines wait until the file takes
 * them. */
at_status journal_append(journal *j, journal_key key, const journal_entry *e, at_error *error);

/* The run is complete: the entries that it wrote or resumed from are no longer needed. Errors as
 * journal_append(). */
at_status journal_finish(journal *j, at_error *error);

/* Closes the journal of a part of what `j` is the journal of, in the same file: finishing `j`
 * finishes the part as well. */
void journal_join(journal *j, journal *part);

const char *journal_path(const journal *j);
size_t journal_count(const journal *j);   /* entries that journal_find() can find */
size_t journal_skipped(const journal *j); /* lines that were damaged when it was opened */

#endif
