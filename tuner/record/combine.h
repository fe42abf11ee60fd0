/* Changes of records from the command line: records of another machine are merged into a folder, or
 * entries are removed.
 *
 * A file is read, changed and replaced whole under the lock of its folder, as record_merge() does:
 * an interrupt leaves the old file or the new one. Everything that is done is reported. */
#ifndef AUTOTUNE_RECORD_COMBINE_H
#define AUTOTUNE_RECORD_COMBINE_H

#include "record/record.h"

typedef enum combine_change {
    COMBINE_ADDED,    /* there was none for its problem */
    COMBINE_SAME,     /* it was there already */
    COMBINE_REPLACED, /* it replaces an older one */
    COMBINE_KEPT,     /* the one that was there stays */
    COMBINE_REMOVED
} combine_change;

/* Is told what is done, and why; `e` NULL: to a portfolio of `fixed`. */
typedef void combine_tell(void *context, const record *r, const record_entry *e,
                          const record_values *fixed, combine_change change, const char *why);

/* Merges `from` into the record of its GPU and pattern under `results_dir`. The newer of two
 * entries for the same question is taken. The older one is taken if both are of the same script and
 * template, it is surely faster, and the newer run is not known to have timed its configuration.
 * `dry`: only reports. Errors of record_read() and record_merge(). */
at_status record_combine(const record *from, const char *results_dir, bool dry, combine_tell *tell,
                         void *context, at_error *error);

/* The reason to remove an entry; NULL: it stays. */
typedef const char *combine_reason(void *context, const record *r, const record_entry *e);

/* Removes the entries of the file that there is a reason to remove. `dry`: only reports. */
at_status record_prune(const char *path, bool dry, combine_reason *reason, void *reason_context,
                       combine_tell *tell, void *context, at_error *error);

#endif
