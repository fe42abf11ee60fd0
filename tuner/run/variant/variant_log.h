/* Candidates in the journal: what was measured of one is kept, and found again by a run that
 * resumes. */
#ifndef AUTOTUNE_RUN_VARIANT_VARIANT_LOG_H
#define AUTOTUNE_RUN_VARIANT_VARIANT_LOG_H

#include "base/error.h"
#include "journal/journal.h"
#include "run/setup/gpus.h"
#include "run/setup/session.h"
#include "run/variant/variant.h"

typedef struct variant_log { /* everything is borrowed */
    journal *journal;        /* NULL: nothing is kept or found */
    session *session;
    const gpus *gpus;
    size_t samples;    /* that an entry must have */
    uint16_t *indices; /* scratch: one configuration */
    at_error *trouble; /* gets why the journal refused an entry */
} variant_log;

/* Says which GPU measures the candidate, or did, and so what its key is, by c->source. */
void variant_log_put_on(const variant_log *log, candidate *c, size_t gpu_number);

/* Writes the candidate's outcome. */
void variant_log_keep(variant_log *log, const candidate *c);

/* Writes what a check of a candidate that had its outcome found: "ragged", of its ragged problems,
 * or "proof". */
void variant_log_keep_check(variant_log *log, const candidate *c, const char *check);

/* Gives the candidate the outcome that an earlier run found, at home or else on another GPU, and
 * what such checks found; false: there is none. */
bool variant_log_find(variant_log *log, candidate *c);

#endif
