/* Shows the progress of a run on stderr: share done, speed, time left, best time so far. A terminal
 * gets one line, redrawn at most ten times a second, cut to the terminal's width, and erased at the
 * end. Other files get a plain line every few seconds. The caller passes the time, and must ignore
 * SIGPIPE: if stderr is closed, full or gone, the progress becomes silent and never stops the run.
 * Every function accepts NULL and then does nothing. */
#ifndef AUTOTUNE_REPORT_PROGRESS_H
#define AUTOTUNE_REPORT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress progress;

/* The state of a run. Fields that are 0 are unknown and not shown. */
typedef struct progress_state {
    const char *stage;       /* "tuning", "finals" ...; not kept */
    uint64_t done, total;    /* in the stage's unit */
    uint64_t failed;         /* how many of `done` failed */
    int64_t best_ns;         /* fastest time so far */
    double best_rate;        /* rate of the fastest variant, in 10^9 per second */
    const char *unit;        /* unit of the rate, such as "GB/s"; not kept */
    double ceiling_fraction; /* share of the ceiling that the fastest variant reaches */
    int64_t now_ns;          /* time of a monotonic clock */
    double until_end_s;      /* time until the stage's deadline; negative if it has passed */
} progress_state;

/* Makes a progress that writes to `fd`, which is borrowed. NULL if `quiet` or memory is short. */
progress *progress_new(int fd, bool quiet);

/* Shows the state if a redraw is due. When the stage changes, speed and time left start again. */
void progress_update(progress *p, const progress_state *state);

/* Erases the line until the next update, so that other output can be printed. */
void progress_clear(progress *p);

void progress_free(progress *p); /* also clears the line */

#endif
