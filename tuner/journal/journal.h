/* The journal: every outcome is written to a file at once, so that an interrupted run can continue.
 * There is one append-only file of JSON lines (journal/line.h) per pattern and GPU, in
 * $XDG_STATE_HOME/autotune/journal (or ~/.local/state/...). The key of a variant covers everything
 * that its outcome depends on, so an entry with the same key is always valid. At the end of a
 * complete run journal_finish() discards the entries, so the same command measures again.
 *
 * A crash costs at most the line that is being written; damaged lines are skipped and counted.
 * Several runs may append whole lines to one file. If the disk refuses a line, the error is
 * reported once, the run continues, and the line is written again with the next line. */
#ifndef AUTOTUNE_JOURNAL_JOURNAL_H
#define AUTOTUNE_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "journal/line.h"

typedef struct journal journal;

/* Writes the path of the default folder. AT_NOT_FOUND if XDG_STATE_HOME and HOME are not set. */
at_status journal_folder(char *out, size_t out_bytes, at_error *error);

/* Opens the journal of the facts' pattern and GPU in `folder`, creating it if missing, and loads
 * the entries of unfinished runs with the same facts. Returns AT_IO also if another user owns or
 * may write the folder or the file. The caller calls journal_close(). */
at_status journal_open(const char *folder, const journal_facts *facts, journal **out,
                       at_error *error);

/* Flushes the journal to the disk and frees `j` (may be NULL). Entries stay for the next run. */
void journal_close(journal *j);

/* Returns a variant's key on GPU `gpu` (journal_entry.gpu). GPUs do not share measurements. */
journal_key journal_key_on(const journal *j, size_t gpu, journal_key variant);

/* Sets the UUID of GPU number `gpu` if the facts lack it, before the GPU's first append. */
void journal_name_gpu(journal *j, size_t gpu, const char *uuid);

/* Returns true if the file has entries of unfinished runs with any facts. Entries of a GPU whose
 * UUID was unknown at journal_open() were not loaded. */
bool journal_has_unfinished(const journal *j);

/* Returns the key of a race on GPU number `gpu`; `plan` describes the race as text. */
journal_key journal_key_of_race(const journal *j, size_t gpu, const char *plan);

/* Finds an entry of this or an unfinished run. *out is a view, valid until the next append. */
bool journal_find(const journal *j, journal_key key, journal_entry *out);

/* Appends an entry, which replaces an earlier entry with the same key. Returns AT_IO once, when the
 * file first refuses a line (full disk). Lines then wait until the file takes them. */
at_status journal_append(journal *j, journal_key key, const journal_entry *e, at_error *error);

/* Marks the run as complete: the entries that it wrote or resumed are no longer needed. Errors are
 * as for journal_append(). */
at_status journal_finish(journal *j, at_error *error);

/* Closes `part`, which has the same file. journal_finish(j) also finishes the runs of `part`. */
void journal_join(journal *j, journal *part);

const char *journal_path(const journal *j);
size_t journal_count(const journal *j);   /* number of entries that journal_find() can find */
size_t journal_skipped(const journal *j); /* number of lines that were damaged at journal_open() */

#endif
