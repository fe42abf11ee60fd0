/* Predicted times of the tuned problem, for configurations that a simulated device tried on the
 * script's smaller one: what is alike there need not be alike here.
 *
 * In: a session whose problem is not PROBLEM_TUNED. Out: the predicted time of each configuration.
 * Each is compiled for the tuned problem, of which a sample of blocks is run (sim/estimate.h); it
 * is not checked there. */
#ifndef AUTOTUNE_RUN_TUNED_TIMES_H
#define AUTOTUNE_RUN_TUNED_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "run/setup/session.h"

/* `configurations` are places in the session's space; those after the first `sure` are predicted
 * until that has taken `patience_ns`. times_ns[i] is 0 where it was not, where the tuned problem
 * does not allow that configuration, or where it cannot be run. The session's own pool is left
 * alone. */
void tuned_times_predict(const session *s, const settings *o, const uint64_t *configurations,
                         size_t count, size_t sure, int64_t patience_ns, double *times_ns);

#endif
