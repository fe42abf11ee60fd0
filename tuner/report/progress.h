/* Progress of a run on stderr: share done, speed, time left, the best so far.
 *
 * On a terminal one line, redrawn at most ten times a second, cut to the terminal's width and
 * erased at the end; elsewhere a plain line every few seconds; nothing when quiet. The caller
 * passes the time. A stderr that is closed, full or gone (a terminal that was hung up) silences the
 * progress and never fails or stops the run; the caller must ignore SIGPIPE. Every function takes
 * NULL for a silent progress. */
#ifndef AUTOTUNE_REPORT_PROGRESS_H
#define AUTOTUNE_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress progress;

/* Fields that are 0 are not known and not shown. */
typedef struct progress_state {
    const char *stage;       /* "tuning", "finals" ...; not kept */
    uint64_t done, total;    /* of what the stage counts */
    uint64_t failed;         /* among those done */
    int64_t best_ns;         /* fastest time so far */
    double best_rate;        /* its rate, 10^9 a second */
    const char *unit;        /* of the rate, "GB/s"; not kept */
    double ceiling_fraction; /* its share of the ceiling */
    int64_t now_ns;          /* monotonic */
    double until_end_s;      /* until the stage's time is up; negative: it is */
} progress_state;

/* Progress that writes to `fd` (borrowed). NULL when quiet or out of memory. */
progress *progress_new(int fd, bool quiet);

/* Shows the state, if it is due. A change of stage restarts speed and time left. */
void progress_update(progress *p, const progress_state *state);

/* Erases the line until the next update, so that something else can be printed. */
void progress_clear(progress *p);

void progress_free(progress *p); /* also clears */

#endif
