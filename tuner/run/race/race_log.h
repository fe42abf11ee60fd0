/* The race in the journal: questions and answers, so that an interrupted run continues where it
 * ended and measures nothing twice.
 *
 * It keeps the end of the search (which configurations were tried), every block of samples, every
 * variant that could not be loaded, every check on fresh data and every energy. The key of each is
 * its question (journal/key.h): which variants, the plan of the race (script, options, seed), and
 * the order. A race depends only on what it is told (search/race/race.h): when it is resumed it
 * asks the same questions in the same order, and takes the answers from here as long as there are
 * any. */
#ifndef AUTOTUNE_RUN_RACE_RACE_LOG_H
#define AUTOTUNE_RUN_RACE_RACE_LOG_H

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

/* `gpu`: the number, in the journal, of the GPU that runs the race. `plan`: everything that the
 * race depends on besides its variants. */
void race_log_init(race_log *l, journal *j, size_t gpu, const char *plan);

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
