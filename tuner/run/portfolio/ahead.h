/* Compiles ahead: what a run is going to need is in the cache of compiled kernels when it begins.
 *
 * A run on a few known configurations waits for their compilation longer than for the GPU. Compile
 * workers of their own compile the references and variants of the next problems while a run
 * measures. Nothing here can fail a run: what is not compiled ahead, the run compiles. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_AHEAD_H
#define AUTOTUNE_RUN_PORTFOLIO_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "device/device.h"
#include "run/setup/settings.h"
#include "script/script.h"

typedef struct ahead ahead;

/* Starts the workers, for `numbers` runs on that device. NULL: there is no cache, or no worker. The
 * caller calls ahead_free(). */
ahead *ahead_new(const settings *o, const device_properties *of, size_t numbers);
void ahead_free(ahead *a); /* NULL is fine, here and below */

/* Is there so little under way that workers will soon be idle? False without workers. */
bool ahead_has_room(ahead *a);

/* Queues what a run with these settings compiles of its starts, where the variables have these
 * values. `number`, below `numbers`, is the caller's. */
void ahead_queue(ahead *a, const settings *run, const pattern_variable *values, size_t count,
                 size_t number);

/* Waits until all that was queued under the number is compiled, or a signal comes. */
void ahead_await(ahead *a, size_t number);

#endif
