/* Replays recorded measurements: a strategy searches a borrowed, recorded space. Nothing is
 * compiled or run. lua/commands/replay.lua scores the results. */
#ifndef AUTOTUNE_HISTORY_REPLAY_H
#define AUTOTUNE_HISTORY_REPLAY_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "history/recorded.h"

typedef struct replay_options {
    const char *strategy; /* NULL for the default */
    uint64_t evaluations; /* evaluations of a run; if 0, as many as the scores need */
    uint64_t seed;        /* seed of the first run; each further run adds 1 */
    size_t repeat;        /* number of runs, at least 1 */
} replay_options;

/* Runs the strategy, and has the runs scored. *out is a new reference to [the command's JSON, the
 * figures that only its text needs]; both have the names in `r`, and `path`. Returns AT_USAGE if
 * the strategy is unknown, AT_NOT_FOUND if no recorded configuration works. */
at_status replay_run(const recorded *r, const recorded_space *rs, const char *path,
                     const replay_options *options, json_t **out, at_error *error);

#endif
