/* Starting a search from what was measured before.
 *
 * In: recorded measurements and the space to search. Out: the recorded configurations that are in
 * the space, fastest first, to be tried first. Times of another device, problem or version are not
 * comparable, but what was fast there is worth trying here. Configurations are matched by the names
 * and values of the space's parameters; a parameter that was not recorded takes its value from
 * `otherwise`. */
#ifndef AUTOTUNE_HISTORY_WARM_START_H
#define AUTOTUNE_HISTORY_WARM_START_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history/recorded.h"
#include "space/space.h"

typedef struct warm_start {
    uint64_t *configurations; /* for strategy_options.start; owned */
    double *costs;            /* as recorded, for strategy_tell() when they are comparable; owned */
    size_t count;
    size_t unmatched; /* recorded configurations that work but are not in the space */
} warm_start;

/* Matches at most `most` configurations, the fastest that work. `otherwise` has one value index a
 * parameter, usually the baseline's. AT_NOT_FOUND when the recording has none of the space's
 * parameters. */
at_status warm_start_init(warm_start *w, const recorded *r, const space *s,
                          const uint16_t *otherwise, size_t most, at_error *error);
void warm_start_deinit(warm_start *w); /* a zeroed one is fine */

#endif
