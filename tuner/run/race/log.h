/* The race in the journal: what was asked and answered, so that a run that was interrupted goes on
 * where it ended and measures nothing twice.
 *
 * Kept is the end of the search (which configurations it tried), every block of samples, every
 * variant that could not be loaded, every check on fresh data and every energy, each under a key of
 * its question (journal/key.h): what a variant is, the race's plan (script, options, seed) and the
 * order asked. A race is a pure function of what it is told (search/race/race.h), so a resumed one asks
 * the same questions in the same order and takes the answers from here until there are no more. */
#ifndef AUTOTUNE_RUN_RACE_LOG_H
#define AUTOTUNE_RUN_RACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/client.h"
#include "journal/journal.h"
#include "run/variant/variant.h"

typedef struct race_log {
    journal *journal; /* borrowed; NULL: nothing is kept or found */
    journal_key key;  /* of this race */
    size_t gpu;       /* that it is run on */
    at_error trouble; /* why the journal refused something; clear when it did not */
} race_log;

typedef struct race_question {
    const char *asked; /* "block", "load", "check", "energy", "winner" */
    uint64_t number;
    candidate *const *variants;
    size_t count;
} race_question;

/* `gpu`: which of the journal's the race is run on. `plan` tells everything that the race depends on besides its variants. AT_NO_MEMORY. */
at_status race_log_init(race_log *l, journal *j, size_t gpu, const char *plan, at_error *error);

/* The configurations that the search of this race tried before it ended; false: it did not end.
 * *tried is a view, valid until the next call that keeps something; *end is what was kept. */
bool race_log_find_search(const race_log *l, const uint64_t **tried, size_t *count, int *end);
void race_log_keep_search(race_log *l, const uint64_t *tried, size_t count, int end);

/* The answer to a question; false when there is none. The event is the caller's
 * (device_event_deinit); its id is the place in `variants` of the one to blame. */
bool race_log_find(const race_log *l, const race_question *q, device_event *out);

/* Keeps an answer, with the stage that the run has reached ("race", "finals", "record"). A block
 * that holds no times is not kept. Failures of the journal are in l->trouble. */
void race_log_keep(race_log *l, const race_question *q, const char *stage, const device_event *e);

#endif
