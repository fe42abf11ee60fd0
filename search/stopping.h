/* Stopping rules of a search: optional limits on evaluations, time, cost and gain, the first of
 * which ends the search; efforts, which are named sets of limits. The caller supplies the outcomes
 * and the elapsed time. */
#ifndef AUTOTUNE_STOPPING_H
#define AUTOTUNE_STOPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum stop_reason {
    STOP_NONE,        /* continue */
    STOP_EVALUATIONS, /* number of evaluations reached */
    STOP_SECONDS,     /* time is up */
    STOP_TARGET,      /* target cost reached */
    STOP_GAIN,        /* the best cost hardly improves any more */
    STOP_REASONS
} stop_reason;

typedef struct stopping_limits {
    /* A limit of 0 means no limit. */
    uint64_t evaluations;
    double seconds;
    double target_cost; /* cost at which the search stops: the ceiling's cost / wanted fraction */
    double gain; /* least relative improvement by the second half of 100 or more evaluations */
} stopping_limits;

typedef struct stopping {
    stopping_limits limits;
    uint64_t evaluations;
    struct stopping_step *steps; /* improvements of the best cost; owned */
    size_t step_count;
} stopping;

/* Begins without evaluations; copies the limits. stopping_deinit() frees the memory. */
void stopping_init(stopping *s, const stopping_limits *limits);
void stopping_deinit(stopping *s);

/* Records the cost of an evaluation, INFINITY if it failed. */
void stopping_record(stopping *s, double cost);

/* Returns the limit that is reached `elapsed_s` seconds after the start, or STOP_NONE. */
stop_reason stopping_check(const stopping *s, double elapsed_s);

/* Returns the number of evaluations after which the search ends for too little gain if the best
 * cost stays as it is. Returns the number so far if the search should end now. */
uint64_t stopping_expected(const stopping *s);

/* How thoroughly to search, ascending. A record also answers requests for a lower effort. */
typedef enum effort {
    EFFORT_QUICK,
    EFFORT_NORMAL,
    EFFORT_THOROUGH,
    EFFORT_EXHAUSTIVE,
    EFFORTS
} effort;

/* Returns "quick", "normal", "thorough" or "exhaustive". */
const char *effort_name(effort e);

/* Finds an effort by its name. AT_USAGE names the nearest. */
at_status effort_find(const char *name, effort *out, at_error *error);

/* Returns the limits of an effort for a space of `space_count` configurations. */
stopping_limits effort_limits(effort e, uint64_t space_count);

#endif
