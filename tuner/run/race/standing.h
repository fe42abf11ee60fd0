/* Do recorded winners still stand? Each is raced against those that came next to it, as the record keeps
 * them, and against the script's default, after a driver, a toolkit or a template changed.
 *
 * In: recorded entries of the GPU at hand, and open workers. Out: for each whether it holds. The kernels of
 * the next entries are compiled while the ones before race; a race ends as soon as it is clear. What is
 * wrong with one entry is its answer and no error. Nothing is written. */
#ifndef AUTOTUNE_RUN_RACE_STANDING_H
#define AUTOTUNE_RUN_RACE_STANDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"
#include "report/progress.h"
#include "run/setup/settings.h"

typedef enum standing {
    STANDING_NOT_VERIFIABLE, /* nothing can be said: no script, another GPU, a problem that does not fit */
    STANDING_HOLDS,          /* it works, and none of the others is surely faster */
    STANDING_OVERTAKEN,      /* another one is */
    STANDING_BROKEN          /* it does not work any more, or the record contradicts itself */
} standing;

enum { STANDINGS = STANDING_BROKEN + 1 };

typedef struct standing_question {
    const char *script;        /* name or path, as paths_find_script() takes it */
    const record *from;
    const record_entry *entry; /* of `from` */
} standing_question;

typedef struct standing_answer {
    standing verdict;
    char *why;            /* owned; NULL where there is nothing to say */
    char *rival;          /* owned; STANDING_OVERTAKEN: the configuration that is faster */
    json_t *rival_values; /* owned; the same, {name: value, ...} */
    double low, ratio, high; /* then: the winner's time over the rival's, with its interval */
    int64_t time_ns;      /* the winner's median now; 0: it was not timed */
    bool script_changed, template_changed; /* since it was recorded */
    size_t raced, blocks; /* how many configurations met in how many blocks */
} standing_answer;

/* "HOLDS", "OVERTAKEN", "BROKEN", "NOT VERIFIABLE"; static storage. */
const char *standing_name(standing s);

/* Answers all; `answers` has room for `count`, and the caller calls standing_answers_deinit, whatever comes
 * back. Of the settings it takes workers (which are opened, with a real GPU), seed and margin. Entries
 * measured otherwise than `o->warm_cache` says are not verifiable. *answered of them are answered when it is
 * interrupted (AT_INTERRUPTED, for a held signal) or the device is lost. */
at_status standing_run(const settings *o, const standing_question *questions, size_t count,
                       standing_answer *answers, size_t *answered, progress *shown, at_error *error);
void standing_answers_deinit(standing_answer *answers, size_t count);

#endif
