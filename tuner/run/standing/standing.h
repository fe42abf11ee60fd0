/* Verifies recorded winners after a change of driver, toolkit or template: races each winner
 * against the recorded contenders and the script's default. Input: recorded entries of this
 * machine's GPU, and open workers. Output: for each entry whether it holds. The next entries
 * compile while an entry races; a race ends as soon as it is decided. A fault of one entry is the
 * answer for it, not an error. */
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
    STANDING_NOT_VERIFIABLE, /* not verifiable: no script, another GPU, an unsuitable problem */
    STANDING_HOLDS,          /* the winner works, and no other configuration is surely faster */
    STANDING_OVERTAKEN,      /* another configuration is surely faster */
    STANDING_BROKEN          /* the winner no longer works, or the record contradicts itself */
} standing;

enum { STANDINGS = STANDING_BROKEN + 1 };

typedef struct standing_question {
    const char *script; /* name or path, as paths_find_script() takes it */
    const record *from;
    const record_entry *entry; /* an entry of `from` */
} standing_question;

typedef struct standing_answer {
    standing verdict;
    char *why;               /* reason for the standing; owned; may be NULL */
    char *rival;             /* the configuration that is faster, if STANDING_OVERTAKEN; owned */
    json_t *rival_values;    /* the rival's configuration as {name: value, ...}; owned */
    double low, ratio, high; /* the winner's time over the rival's, if STANDING_OVERTAKEN */
    int64_t time_ns;         /* the winner's median now; 0 if it was not timed */
    bool script_changed, template_changed; /* changes since the record was made */
    size_t raced, blocks;                  /* number of configurations and of blocks */
} standing_answer;

/* Returns "HOLDS", "OVERTAKEN", "BROKEN" or "NOT VERIFIABLE". */
const char *standing_name(standing s);

/* Answers all questions. `answers` has room for `count`; the caller calls
 * standing_answers_deinit(), also after a failure. The settings give the workers (open, with a real
 * GPU), seed and margin. Entries measured with another cache mode than o->race.warm_cache are not
 * verifiable. After AT_INTERRUPTED (a held signal) or the loss of the device, *answered is the
 * number of answers. */
at_status standing_run(const settings *o, const standing_question *questions, size_t count,
                       standing_answer *answers, size_t *answered, progress *shown,
                       at_error *error);
void standing_answers_deinit(standing_answer *answers, size_t count);

#endif
