/* The journal: every outcome is written down as it happens, so that an interrupted run goes on
 * where it ended.
 *
 * One append-only file of JSON lines (journal/line.h) a pattern and GPU, under
 * $XDG_STATE_HOME/autotune/journal (else ~/.local/state/...). A variant is known by a key of
 * everything that its outcome depends on (journal/key.h): whatever of that changes, the key does,
 * and nothing else invalidates an entry. journal_finish() at the end of a complete run says that its
 * entries have done their duty: the same command then measures anew.
 *
 * A crash at any moment costs at most the line being written; a line that does not pass its check is
 * skipped and counted. Runs at once append to the same file, a whole line at a time. When the disk
 * refuses a line, that is said once and the run goes on; the line is tried again with the next. */
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

/* Opens the journal of the facts' pattern and GPU in `folder` (made when missing), and loads what
 * unfinished runs under the same facts left. The folder and the file are the user's alone: AT_IO when
 * another owns them or may write them. AT_IO, AT_NO_MEMORY; lines that are damaged are only
 * counted. */
at_status journal_open(const char *folder, const journal_facts *facts, journal **out,
                       at_error *error);

/* Flushes to the disk and closes, keeping the entries for the next run. NULL is fine. */
void journal_close(journal *j);

/* The key of a variant under the facts that the journal was opened with. AT_NO_MEMORY. */
at_status journal_key_of(const journal *j, const journal_launch *launches, size_t count,
                         journal_key *out, at_error *error);

/* The same of another GPU of the run (journal_entry.gpu): what one measured is nothing to another. */
at_status journal_key_on(const journal *j, size_t gpu, const journal_launch *launches, size_t count,
                         journal_key *out, at_error *error);

/* The key of a race on a GPU under those facts, which `plan` (a text) describes, and of a question of it.
 * AT_NO_MEMORY. */
at_status journal_key_of_race(const journal *j, size_t gpu, const char *plan, journal_key *out,
                              at_error *error);

/* The entry of an unfinished run, or of this one; false when there is none. A view, valid until the
 * next append. */
bool journal_find(const journal *j, journal_key key, journal_entry *out);

/* Writes an entry down; an earlier one of the same key no longer counts. AT_IO once, when the file
 * first refuses (full disk); from then on lines wait for it to take them, and the result is AT_OK. */
at_status journal_append(journal *j, journal_key key, const journal_entry *e, at_error *error);

/* The run is complete: what it wrote and resumed from is no longer needed. As journal_append. */
at_status journal_finish(journal *j, at_error *error);

const char *journal_path(const journal *j);
size_t journal_count(const journal *j);   /* entries that journal_find() can find */
size_t journal_skipped(const journal *j); /* lines that were damaged when it was opened */

#endif
