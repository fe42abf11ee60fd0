/* The outcome of a variant. Every variant of a run has exactly one outcome; it is counted in the
 * summary, kept in the journal with its message, and never ends the run. */
#ifndef AUTOTUNE_DEVICE_OUTCOME_H
#define AUTOTUNE_DEVICE_OUTCOME_H

#include <stdbool.h>

typedef enum outcome {
    OUTCOME_OK,
    OUTCOME_REJECTED, /* a constraint rules it out; of a run: not tried, because it is likely to
                         hang */
    OUTCOME_COMPILE_ERROR, /* the compiler refused the source */
    OUTCOME_LAUNCH_ERROR,  /* the device refused the launch (resources) */
    OUTCOME_WRONG_RESULT,  /* it ran and its output, guard bands or inputs are wrong */
    OUTCOME_CRASHED,       /* it took the compiler or the device's context down */
    OUTCOME_TIMEOUT,       /* it did not end within its time limit */
    OUTCOME_NOT_SIMULATED, /* a simulated device does not know what it executes: nothing is known of
                              it */
    OUTCOME_TOO_SLOW, /* its first launch took so long that it cannot be the fastest: it has that
                         one time, and was not checked */
    OUTCOME_COUNT
} outcome;

/* The name in tables, journals and JSON ("ok", "compile_error" ...). Static storage;
 * "unknown" for a number that is no outcome. */
const char *outcome_name(outcome o);

/* Finds an outcome by that name; false, leaving *out alone, when there is none. */
bool outcome_find(const char *name, outcome *out);

#endif
