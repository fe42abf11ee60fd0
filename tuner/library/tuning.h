/* The tunings that a program has begun with at_tune(): the processes in which they run.
 * library/tune.c has the calls.
 *
 * A tuning is known by its pattern, problem and GPU; another process that tunes the same into the
 * same folder is waited for. All of it belongs to an at_results, and may be used by its threads at
 * once. Nothing here waits. */
#ifndef AUTOTUNE_LIBRARY_TUNING_H
#define AUTOTUNE_LIBRARY_TUNING_H

#include "autotune.h"
#include "device/device.h"
#include "library/pattern.h"

typedef struct tunings tunings;
typedef struct tuning tuning;

/* When there is a result, the records of `known` are read again. NULL: no memory. */
tunings *tunings_new(patterns *known);

/* Asks the processes to end. NULL is fine. */
void tunings_free(tunings *t);

/* Makes what is tuned, or to be: of the pattern and problem, which are checked and are copied, on
 * one of the results' GPUs. AT_USAGE, AT_NO_MEMORY. The caller frees *out in any case. */
at_status tuning_new(const char *pattern_name, const at_variable *problem, size_t count,
                     const device_properties *gpu, tuning **out, at_error *error);
void tuning_free(tuning *t); /* asks its process to end; NULL is fine */

/* Is such a tuning among them? */
bool tunings_know(tunings *all, const tuning *like);

/* Begins the tuning, unless it is known, and takes it: *t is NULL then. AT_USAGE takes nothing;
 * AT_NOT_FOUND, AT_IO: there is no process, and it has failed. */
at_status tunings_add(const at_results *results, tuning **t, const at_tune_options *options,
                      at_error *error);

/* Takes one that needs no process, for it is recorded. */
void tunings_add_done(const at_results *results, tuning **t);

/* Does it run, or wait? */
bool tuning_is_open(at_tune_state state);

/* Tells what has become of it, and why it failed. */
at_tune_state tunings_state(tunings *all, const tuning *like, at_error *error);

/* For at_pick(): takes what tunings have brought meanwhile. Costs nothing where none runs. */
void tunings_look(const at_results *results);

#endif
