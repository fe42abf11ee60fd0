/* When a search stops: limits on evaluations, time, target and gain.
 *
 * In: limits, any of which may be absent, the outcomes as they come, and the time that has passed
 * (by the caller's clock). Out: whether to stop, and by which limit. The first limit that is
 * reached ends the search. Also the named efforts, which stand for sets of limits. Owns its
 * history. */
#ifndef AUTOTUNE_STOPPING_H
#define AUTOTUNE_STOPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum stop_reason {
    STOP_NONE,        /* go on */
    STOP_EVALUATIONS, /* as many as allowed */
    STOP_SECONDS,     /* the time is up */
    STOP_TARGET,      /* the target cost was reached */
    STOP_GAIN,        /* the best cost hardly falls any more */
    STOP_REASONS
} stop_reason;

typedef struct stopping_limits {
    uint64_t evaluations; /* 0: no limit */
    double seconds;       /* 0: no limit */
    double target_cost;   /* stop once the best is as low; 0: none. For a fraction f of a ceiling it
                           * is the cost at the ceiling over f. */
    double gain;          /* stop when the second half of the evaluations, 50 at least, has lowered
                           * the best cost by less than this share of it; 0: never */
} stopping_limits;

typedef struct stopping {
    stopping_limits limits;
    uint64_t evaluations;
    struct stopping_step *steps; /* each time the best became better */
    size_t step_count;
} stopping;

void stopping_init(stopping *s, const stopping_limits *limits);
void stopping_deinit(stopping *s);

/* Notes the outcome of an evaluation; INFINITY when it failed. */
void stopping_note(stopping *s, double cost);

/* Should the search stop, `elapsed_s` seconds after it began? */
stop_reason stopping_check(const stopping *s, double elapsed_s);

/* How much to search, from least to most. A record made with one effort is final for equal or lower
 * ones. */
typedef enum effort {
    EFFORT_QUICK,
    EFFORT_NORMAL,
    EFFORT_THOROUGH,
    EFFORT_EXHAUSTIVE,
    EFFORTS
} effort;

/* "quick", "normal", "thorough", "exhaustive". Static storage. */
const char *effort_name(effort e);

/* Finds an effort by name. AT_USAGE names the nearest. */
at_status effort_find(const char *name, effort *out, at_error *error);

/* The limits of an effort on a space of `space_count` configurations. */
stopping_limits effort_limits(effort e, uint64_t space_count);

#endif
