/* Do recorded winners still stand, after a change of driver, toolkit or template? Each is raced
 * against the configurations that the record keeps as next to it, and against the script's default.
 *
 * In: recorded entries of this machine's GPU, and open workers. Out: for each entry whether it
 * holds. The kernels of the next entries are compiled while the current ones race; a race ends as
 * soon as it is clear. A fault of one entry is its answer, not an error. Nothing is written. */
#ifndef AUTOTUNE_RUN_STANDING_STANDING_H
#define AUTOTUNE_RUN_STANDING_STANDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/record.h"
#include "report/progress.h"
#include "run/setup/settings.h"

typedef enum standing {
    STANDING_NOT_VERIFIABLE, /* nothing can be said: no script, another GPU, a problem that does not
                                fit */
    STANDING_HOLDS,          /* it works, and none of the others is surely faster */
    STANDING_OVERTAKEN,      /* another one is */
    STANDING_BROKEN          /* it does not work any more, or the record contradicts itself */
} standing;

enum { STANDINGS = STANDING_BROKEN + 1 };

typedef struct standing_question {
    const char *script; /* name or path, as paths_find_script() takes it */
    const record *from;
    const record_entry *entry; /* of `from` */
} standing_question;

typedef struct standing_answer {
    standing verdict;
    char *why;            /* owned; NULL where there is nothing to say */
    char *rival;          /* owned; STANDING_OVERTAKEN: the configuration that is faster */
    json_t *rival_values; /* owned; the same, {name: value, ...} */
    double low, ratio,
        high;        /* STANDING_OVERTAKEN: the winner's time over the rival's, with its interval */
    int64_t time_ns; /* the winner's median now; 0: it was not timed */
    bool script_changed, template_changed; /* since it was recorded */
    size_t raced, blocks;                  /* how many configurations met in how many blocks */
} standing_answer;

/* "HOLDS", "OVERTAKEN", "BROKEN", "NOT VERIFIABLE"; static storage. */
const char *standing_name(standing s);

/* Answers all questions. `answers` has room for `count`; the caller calls standing_answers_deinit,
 * also after a failure. The settings give the workers (which are opened, with a real GPU), seed and
 * margin. Entries that were measured with the other cache mode than `o->warm_cache` are not
 * verifiable. If it is interrupted (AT_INTERRUPTED, for a held signal) or the device is lost,
 * *answered says how many are answered. */
at_status standing_run(const settings *o, const standing_question *questions, size_t count,
                       standing_answer *answers, size_t *answered, progress *shown,
                       at_error *error);
void standing_answers_deinit(standing_answer *answers, size_t count);

#endif
