/* Records changed by hand of the command line: those of another machine merged into a folder, entries taken
 * out.
 *
 * A file is read, changed and replaced whole under the lock of its folder, as record_merge() does; what is
 * interrupted leaves the old file or the new. Nothing is done without telling it. */
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

/* What is done and why; `e` NULL: a portfolio of `fixed`. */
typedef void combine_tell(void *context, const record *r, const record_entry *e, const record_values *fixed,
                          combine_change change, const char *why);

/* Merges `from` into the record of its GPU and pattern under `results_dir`. Of two entries for the same
 * question the newer one is taken, but the older one where both are of the same script and template, it
 * is surely faster, and the newer run is not known to have timed its configuration. `dry`: only tells. The
 * errors of record_read() and record_merge(). */
at_status record_combine(const record *from, const char *results_dir, bool dry, combine_tell *tell,
                         void *context, at_error *error);

/* Why an entry goes; NULL: it stays. */
typedef const char *combine_reason(void *context, const record *r, const record_entry *e);

/* Takes the entries out of the file for which there is a reason; dry: only tells. */
at_status record_prune(const char *path, bool dry, combine_reason *reason, void *reason_context,
                       combine_tell *tell, void *context, at_error *error);

#endif
