/* The tunings that a program began with at_tune(), and their processes. library/choice.c has the
 * calls.
 *
 * A tuning is identified by pattern, problem and GPU. If another process tunes the same pattern and
 * problem for the same GPU into the same folder, this tuning waits for its result. Tunings belong
 * to an at_results and may be used by several threads at once. No function of this header
 * blocks. */
#ifndef AUTOTUNE_LIBRARY_TUNING_H
#define AUTOTUNE_LIBRARY_TUNING_H

#include "autotune.h"
#include "device/device.h"
#include "library/pattern.h"

typedef struct tunings tunings;
typedef struct tuning tuning;

/* Makes an empty list. A tuning that ends with a result makes `known` read the records again.
 * Returns NULL if memory ran out. */
tunings *tunings_new(patterns *known);

/* Asks the processes to end, and frees the list. `t` may be NULL. */
void tunings_free(tunings *t);

/* Makes a tuning of the pattern and problem on one of the results' GPUs; copies the checked
 * arguments. Starts nothing. AT_USAGE, AT_NO_MEMORY. The caller calls tuning_free(*out) in any
 * case. */
at_status tuning_new(const char *pattern_name, const at_variable *problem, size_t count,
                     const device_properties *gpu, tuning **out, at_error *error);
void tuning_free(tuning *t); /* asks its process to end; `t` may be NULL */

/* Returns whether the list has a tuning of the same pattern, problem and GPU. */
bool tunings_contain(tunings *all, const tuning *like);

/* Takes over the tuning (`*t` becomes NULL) and starts it, unless the list has it or `known` says
 * that its result is recorded. AT_USAGE does not take it over. After AT_NOT_FOUND and AT_IO no
 * process could be started, and the tuning has failed. */
at_status tunings_add(const at_results *results, tuning **t, bool known,
                      const at_tune_options *options, at_error *error);

/* Returns whether a tuning in this state runs or waits. */
bool tuning_is_open(at_tune_state state);

/* Returns the state of the tuning. If it failed, `error` has the reason. */
at_tune_state tunings_state(tunings *all, const tuning *like, at_error *error);

/* Makes results of ended tunings available to at_pick(). Almost free if no tuning is open. */
void tunings_update(const at_results *results);

#endif
