/* Recorded measurements as a search space with a known cost for each configuration.
 *
 * In: a recorded, borrowed. Out: the space of exactly the configurations recorded, and for each its
 * cost and the time it took. Owns the space and the arrays. */
#ifndef AUTOTUNE_HISTORY_SPACE_H
#define AUTOTUNE_HISTORY_SPACE_H

#include "base/error.h"
#include "history/recorded.h"
#include "space/space.h"

typedef struct recorded_space {
    space *space;
    uint64_t count;
    double *cost;      /* for each configuration; INFINITY: failed */
    double *elapsed_s; /* compiling, checking and running it */
    size_t *result;    /* its place among the recorded's results */
    size_t parameter_count;
    space_parameter *parameters;
    value **values; /* of each parameter */
} recorded_space;

/* Parameter values are those that occur, sorted. Errors: AT_NO_MEMORY. */
at_status recorded_space_init(recorded_space *rs, const recorded *r, at_error *error);
void recorded_space_deinit(recorded_space *rs); /* a zeroed one is fine */

#endif
