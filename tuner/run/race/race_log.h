/* The race in the journal: an interrupted run continues where it ended and measures nothing twice.
 *
 * The log keeps the end of the search (the configurations that were tried), every block of samples,
 * every failed load, every check on fresh data and every energy. The key of an answer is its
 * question (journal/journal.h): the variants, the plan of the race (script, options, seed) and the
 * number. A race depends only on the answers (search/race/race.h), so a resumed race asks the same
 * questions in the same order. */
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
    journal *journal; /* may be NULL, which keeps and finds nothing; borrowed */
    journal_key key;  /* key of this race */
    size_t gpu;       /* number of the GPU that runs the race */
    at_error trouble; /* the journal's error, if there was one */
} race_log;

typedef struct race_question {
    const char *asked; /* kind of question: "block", "load", "check", "energy", "winner" */
    uint64_t number;
    candidate *const *variants;
    size_t count;
} race_question;

/* `gpu` is the journal's number of the GPU that runs the race. `plan` is a text that contains
 * everything on which the race depends besides its variants. */
void race_log_init(race_log *l, journal *j, size_t gpu, const char *plan);

/* Finds the configurations that the search tried. Returns false if the search had not ended. *tried
 * is valid until the log is written to; *end is the reason why the search ended. */
bool race_log_find_search(const race_log *l, const uint64_t **tried, size_t *count, int *end);
void race_log_keep_search(race_log *l, const uint64_t *tried, size_t count, int end);

/* Finds the answer to a question; the caller calls device_event_deinit(). Returns false if the log
 * has no answer. The event's id is the index, in `variants`, of the variant to blame. */
bool race_log_find(const race_log *l, const race_question *q, device_event *out);

/* Keeps an answer, with the stage of the run ("race", "finals", "record"). A block without times is
 * not kept. l->trouble gets the journal's error. */
void race_log_keep(race_log *l, const race_question *q, const char *stage, const device_event *e);

#endif
