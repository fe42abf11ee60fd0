/* The declarations that the parts of the room share: record/reading.c has what all readers need,
 * record/portfolio.c reads portfolios, record/record.c the rest; record/merge.c writes. */
#ifndef AUTOTUNE_RECORD_SCHEMA_H
#define AUTOTUNE_RECORD_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "base/lock.h"
#include "record/record.h"
#include "record/summary.h"

#define RECORD_SCHEMA "autotune-record"

/* The state of reading. The first failure is kept. Reads after it are ignored, so that readers need
 * not check after each member. */
typedef struct record_reading {
    const char *path;
    size_t entry;          /* 1-based; 0: the head of the file */
    record_faults *faults; /* NULL: the first thing that cannot be understood ends the reading */
    at_status status;
    at_error *error;
} record_reading;

/* An identifier of at most 63 letters: a name of a pattern, variable or parameter. */
bool record_is_name(const char *text);

/* A short text without control characters: a string value, a GPU's name. */
bool record_is_text(const char *text);

/* "entry 3: WHAT must be EXPECTED". */
void record_bad(record_reading *r, const char *what, const char *expected);
void record_no_memory(record_reading *r);

/* If faults are collected, a bad element of `list` at `place` ("entries", 2) is noted as left out,
 * and reading goes on. */
void record_leave_out(record_reading *r, const char *list, size_t place);

/* An object of values, by names; *out is the caller's, also after an error. */
void record_read_values(record_reading *r, const json_t *object, const char *what,
                        record_values *out);

/* Merging takes milliseconds: a process that holds a folder's lock longer is stuck. */
enum { RECORD_LOCK_TIMEOUT_MS = 30000 };

/* Calls `visit` with the folder of each GPU under `results_dir`, and ends at its first failure.
 * AT_NOT_FOUND, AT_IO of `results_dir` itself. */
typedef at_status record_visitor(void *context, const char *folder, at_error *error);
at_status record_each_gpu(const char *results_dir, record_visitor *visit, void *context,
                          at_error *error);

/* Members of what is written of a run; new references, NULL when out of memory. */
json_t *record_pack_problem(const run_summary *s);
/* Packs the variables in which the tuned problem differs from one that stands in for it: {} if they
 * are the same or `tuned` is NULL. */
json_t *record_pack_stood_for(const pattern_variable *tuned, const pattern_variable *problem,
                              size_t count);
json_t *record_pack_time(const stats_summary *t);
json_t *record_pack_device(const run_summary *s);

/* Makes the folder of a GPU's records, and those above it, and waits for its lock. The caller
 * unlocks it. */
at_status record_lock_folder(const char *results_dir, const char *gpu, lock **out, at_error *error);

/* Copies the members of an earlier entry that this version does not know and that are not there.
 * False when out of memory. */
bool record_keep_unknown(json_t *entry, json_t *old);

/* Can a text be read as what a file is to hold? */
typedef at_status record_reader(const char *text, size_t length, const char *path, at_error *error);

/* Replaces a file of the results folder. The text is first read back: autotune never writes what it
 * could not read later. AT_FORMAT, AT_IO, AT_NO_MEMORY leave the old file. */
at_status record_replace(const char *path, const json_t *root, record_reader *reads,
                         at_error *error);

/* The same, of a record. */
at_status record_write(const char *path, const json_t *root, at_error *error);

/* The record's portfolios, and what was seen beside the default there and in its entries. */
void record_read_portfolios(record_reading *r, const json_t *root, record *out);
/* Fills out->problems and out->questions. */
void record_note_questions(record_reading *r, record *out);
void record_note_seen(record_reading *r, const json_t *root, record *out);
void record_portfolios_deinit(record *r);

/* The record's portfolio for the same problems as `like`; NULL: it has none. */
const record_portfolio *record_same_portfolio(const record *r, const record_portfolio *like);

/* Puts a packed portfolio into r->root, in place of `there` (NULL: beside the others). False when
 * out of memory. */
bool record_put_portfolio(const record *r, const record_portfolio *there, json_t *packed);

#endif
