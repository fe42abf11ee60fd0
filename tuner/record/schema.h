/* Declarations that the modules of this room share: checks and errors of readers, and the JSON
 * objects of writers and reports. Functions that return json_t return a new reference, or NULL if
 * memory ran out or a text is not UTF-8. */
#ifndef AUTOTUNE_RECORD_SCHEMA_H
#define AUTOTUNE_RECORD_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/lock.h"
#include "record/record.h"
#include "record/summary.h"

struct portfolio_draft; /* record/merge.h */

#define RECORD_SCHEMA "autotune-record"

/* The state of reading one file. The first failure is kept in `status` and `error`, and later reads
 * are ignored: callers check once, at the end. */
typedef struct record_reading {
    const char *path;
    size_t entry;          /* number of the entry being read, from 1; 0 in the head of the file */
    record_faults *faults; /* parts that were left out; NULL if the first fault ends the reading */
    at_status status;
    at_error *error;
} record_reading;

/* Returns whether the text is an identifier of at most 63 letters, as all names must be. */
bool record_is_name(const char *text);

/* Returns whether a string value or GPU's name is valid: <= 255 bytes, no control characters. */
bool record_is_text(const char *text);

/* Sets the error "entry 3: WHAT must be EXPECTED", AT_FORMAT. */
void record_bad(record_reading *r, const char *what, const char *expected);
/* Sets the error AT_NO_MEMORY. */
void record_no_memory(record_reading *r);

/* If faults are collected, notes that the element `place` of the array `list` ("entries") is left
 * out. Also clears the error, so that reading goes on. */
void record_leave_out(record_reading *r, const char *list, size_t place);

/* Reads an object of named values. The caller frees out->pairs, also after an error. */
void record_read_values(record_reading *r, const json_t *object, const char *what,
                        record_values *out);

/* Merging takes milliseconds. A process that holds a folder's lock for this time is stuck. */
enum { RECORD_LOCK_TIMEOUT_MS = 30000 };

/* Calls `visit` with the folder of each GPU under `results_dir`, until it fails, and returns its
 * status. AT_NOT_FOUND if `results_dir` does not exist; AT_IO. */
typedef at_status record_visitor(void *context, const char *folder, at_error *error);
at_status record_each_gpu(const char *results_dir, record_visitor *visit, void *context,
                          at_error *error);

/* Writes the path "<results_dir>/<slug>/<file>", or the path of that folder if `file` is "".
 * AT_USAGE if the path is too long. */
at_status record_gpu_path(const char *results_dir, const char *gpu, const char *file, char *out,
                          size_t out_bytes, at_error *error);

/* Reads one file, like record_parse(). Also AT_NOT_FOUND, AT_IO. */
at_status record_read_file(const char *path, record_faults *faults, record *out, at_error *error);

/* Pack parts of an entry, whole entries and portfolios. */
json_t *record_pack_problem(const run_summary *s);
/* Packs the variables that differ between the tuned problem and the smaller problem in its place.
 * Returns {} if no variable differs or `tuned` is NULL. */
json_t *record_pack_tuned_difference(const pattern_variable *tuned, const pattern_variable *problem,
                                     size_t count);
json_t *record_pack_time(const stats_summary *t);
json_t *record_pack_device(const run_summary *s);
json_t *record_pack_entry(const run_summary *s);
json_t *record_pack_portfolio(const struct portfolio_draft *d);

/* Packs the coverage of a proof; returns JSON null if `c` is NULL or covers nothing:
 *
 * {"problems": "the small problem n=4096, ...",
 *  "extent": "tuned", or "smaller" if no result of the tuned problem was compared,
 *  "tuned": {"blocks": .., "run": .., "cut": .., "blind": .., "compared": ..}, or null if the tuned
 *           problem was run whole or not at all,
 *  "skipped": .., "never_ran": .., "ran_once": .., "allowed": .., "unwatched": ..}
 *
 * The last five are texts, null if empty. lua/lib/coverage.lua puts all of it into words. */
json_t *coverage_pack(const device_coverage *c);

/* Makes the folder of a GPU's records with all parent folders, and waits for its lock. The caller
 * closes `*out` with lock_close(). */
at_status record_lock_folder(const char *results_dir, const char *gpu, lock **out, at_error *error);

/* Copies into `entry` the members of the earlier entry `old` that are unknown to this version and
 * missing in `entry`. Returns false if memory ran out. */
bool record_keep_unknown(json_t *entry, json_t *old);

/* Checks that a text can be read as a file of its kind. */
typedef at_status record_reader(const char *text, size_t length, const char *path, at_error *error);

/* Replaces a file of the results folder. First reads the new text with `reads`: autotune must be
 * able to read what it writes. AT_FORMAT, AT_IO, AT_NO_MEMORY leave the old file. */
at_status record_replace(const char *path, const json_t *root, record_reader *reads,
                         at_error *error);

/* Reads the record's portfolios into out->portfolios. */
void record_read_portfolios(record_reading *r, const json_t *root, record *out);
/* Fills out->problems and out->questions from the entries. */
void record_index_questions(record_reading *r, record *out);
/* Fills out->seen from entries and portfolios. */
void record_note_comparisons(record_reading *r, const json_t *root, record *out);
void record_portfolios_deinit(record *r);

/* Returns the record's portfolio with the same fixed variables, or NULL. */
const record_portfolio *record_same_portfolio(const record *r, const record_portfolio *like);

/* Puts a packed portfolio into r->root, in place of `there` if it is not NULL. Returns false if
 * memory ran out. */
bool record_put_portfolio(const record *r, const record_portfolio *there, json_t *packed);

#endif
