/* Writes records. The file of a GPU and pattern takes the result of a run (record_merge() in
 * record/record.h), a portfolio, a decision of a tuning site, or the records of another folder. A
 * file is replaced whole, under the lock of its folder, so an interrupt leaves the old file or the
 * new file. */
#ifndef AUTOTUNE_RECORD_MERGE_H
#define AUTOTUNE_RECORD_MERGE_H

#include "base/error.h"
#include "base/lock.h"
#include "device/arch.h"
#include "record/record.h"

typedef struct record_store {
    char path[RECORD_PATH_BYTES];
    record old; /* the file as it was read; record_store_write() writes old.root */
    lock *lock;
} record_store;

/* Makes the folder, waits for its lock, and reads the file or begins a new file. AT_FORMAT if the
 * file is damaged, of another version or of another GPU; AT_IO, AT_USAGE, AT_NO_MEMORY. After AT_OK
 * the caller calls record_store_close(). */
at_status record_store_open(record_store *s, const char *results_dir, const arch_limits *gpu,
                            const char *pattern_name, at_error *error);
/* Writes old.root to the file. AT_FORMAT, AT_IO, AT_NO_MEMORY leave the old file. */
at_status record_store_write(record_store *s, at_error *error);
void record_store_close(record_store *s);

/* The times of a portfolio's configurations on one problem. */
typedef struct draft_problem {
    record_values problem;
    int64_t baseline_ns;     /* time of the script's default; 0 if it is impossible */
    const int64_t *times_ns; /* one time per configuration; 0 if it is impossible */
} draft_problem;

typedef struct portfolio_draft {
    const char *pattern;
    const arch_limits *gpu;
    const record_portfolio *portfolio; /* `place` is not used */
    size_t problem_count;
    const draft_problem *problems;
    const char *script_hash, *template_hash;
} portfolio_draft;

/* Formats a record with only this portfolio. The caller frees `*text`. AT_NO_MEMORY. */
at_status draft_format(const portfolio_draft *d, char **text, at_error *error);

/* Merges the portfolio into <results_dir>/<gpu>/<pattern>.json, in place of a portfolio with the
 * same fixed variables, and writes that path to `path`. The caller excludes predicted times. Errors
 * as record_merge(). */
at_status draft_merge(const char *results_dir, const portfolio_draft *d, char *path,
                      size_t path_bytes, at_error *error);

typedef enum combine_change {
    COMBINE_ADDED,    /* the question had no entry */
    COMBINE_SAME,     /* an equal entry was there */
    COMBINE_REPLACED, /* the new entry replaces another entry */
    COMBINE_KEPT,     /* the earlier entry stays */
    COMBINE_REMOVED
} combine_change;

/* Called for each change, with the reason `why`. The change concerns the entry `e` or, if `e` is
 * NULL, the portfolio with the fixed variables `fixed`. */
typedef void combine_reporter(void *context, const record *r, const record_entry *e,
                              const record_values *fixed, combine_change change, const char *why);

/* Merges `from` into the record of its GPU and pattern under `results_dir`. Of two entries for the
 * same question, the newer entry is taken, with one exception: both have the same script and
 * template, the older entry's time interval lies below the newer one, and the newer run did not
 * time its configuration. `dry` only calls `tell`. Errors as record_read() and record_merge(). */
at_status record_combine(const record *from, const char *results_dir, bool dry,
                         combine_reporter *tell, void *context, at_error *error);

/* Returns the reason to remove an entry, or NULL if it stays. */
typedef const char *combine_reason(void *context, const record *r, const record_entry *e);

/* Removes the entries of the file for which `reason` returns a reason. If `dry`, only calls `tell`.
 * Errors as record_combine(). */
at_status record_prune(const char *path, bool dry, combine_reason *reason, void *reason_context,
                       combine_reporter *tell, void *context, at_error *error);

#endif
