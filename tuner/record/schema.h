/* What the parts of the room share: record/reading.c has what all readers need, record/portfolio.c reads
 * portfolios, record/record.c the rest; record/merge.c writes. */
#ifndef AUTOTUNE_RECORD_SCHEMA_H
#define AUTOTUNE_RECORD_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#include "record/record.h"
#include "record/summary.h"

#define RECORD_SCHEMA "autotune-record"

/* What is being read, for messages. */
typedef struct record_reading {
    const char *path;
    size_t entry; /* 1-based; 0: the head of the file */
    record_faults *faults; /* NULL: the first thing that cannot be understood ends the reading */
    at_error *error;
} record_reading;

/* An identifier of at most 63 letters: a name of a pattern, variable or parameter. */
bool record_is_name(const char *text);

/* A short text without control characters: a string value, a GPU's name. */
bool record_is_text(const char *text);

/* "entry 3: WHAT must be EXPECTED". */
at_status record_bad(const record_reading *r, const char *what, const char *expected);
at_status record_no_memory(const record_reading *r);

/* If faults are collected, notes that `list` has a bad element at `place` ("entries", 2), which is left
 * out, and returns AT_OK. Otherwise returns `status`. */
at_status record_leave_out(const record_reading *r, at_status status, const char *list,
                           size_t place);

/* An object of values, by names; *out is the caller's, also after an error. */
at_status record_read_values(const record_reading *r, const json_t *object, const char *what,
                             record_values *out);

/* Merging takes milliseconds: a process that holds a folder's lock longer is stuck. */
enum { RECORD_LOCK_TIMEOUT_MS = 30000 };

/* Members of what is written of a run; new references, NULL when out of memory. */
json_t *record_pack_problem(const run_summary *s);
json_t *record_pack_time(const stats_summary *t);
json_t *record_pack_device(const run_summary *s);

/* Makes the folder of a GPU's records, and those above it, and waits for its lock. The caller unlocks it. */
at_status record_lock_folder(const char *results_dir, const char *gpu, int *lock, at_error *error);

/* Copies the members of an earlier entry that this version does not know and that are not there. False when
 * out of memory. */
bool record_keep_unknown(json_t *entry, json_t *old);

/* Can a text be read as what a file is to hold? */
typedef at_status record_reader(const char *text, size_t length, const char *path, at_error *error);

/* Replaces a file of the results folder. The text is first read back: autotune never writes what it could
 * not read later. AT_FORMAT, AT_IO, AT_NO_MEMORY leave the old file. */
at_status record_replace(const char *path, const json_t *root, record_reader *reads, at_error *error);

/* The same, of a record. */
at_status record_write(const char *path, const json_t *root, at_error *error);

/* The record's portfolios, and what was seen beside the default there and in its entries. */
at_status record_read_portfolios(const record_reading *r, const json_t *root, record *out);
at_status record_note_seen(const record_reading *r, const json_t *root, record *out);
void record_portfolios_deinit(record *r);

#endif
