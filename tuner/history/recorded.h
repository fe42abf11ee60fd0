/* Reads measurements that autotune or other tools recorded, and makes a search space or the start
 * of a search from them. Formats: Kernel Tuner's caches, T4 results, autotune's journals, runs and
 * records, Kernel Launcher's wisdom; plain or gzip (lua/lib/recorded.lua). Files are not trusted:
 * a missing member or a wrong type is an error that names the file and the result. */
#ifndef AUTOTUNE_HISTORY_RECORDED_H
#define AUTOTUNE_HISTORY_RECORDED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"
#include "space/space.h"

enum { RECORDED_MAX_PARAMETERS = 256 };

typedef struct recorded_result {
    value *values;    /* one per parameter */
    double cost;      /* in ms or the unit of `objective`; INFINITY if the configuration failed */
    double elapsed_s; /* time spent compiling, checking and running */
} recorded_result;

/* All measurements of one file; owns what it points to. */
typedef struct recorded {
    const char **names; /* names of the parameters */
    size_t parameter_count;
    recorded_result *results; /* each configuration once */
    size_t result_count;
    const char *device, *kernel; /* "" if unknown */
    const char *objective;       /* what the search minimised, such as "time" */
    json_t *root;                /* the parsed file, which owns the texts */
} recorded;

/* Reads a file into *out, a new reference: {format, content}, the input of lua/lib/recorded.lua.
 * AT_NOT_FOUND, AT_IO, AT_FORMAT. */
at_status recorded_open(const char *path, json_t **out, at_error *error);

/* Makes the same JSON as recorded_open() from a text; `path` is for messages. */
at_status recorded_open_text(const char *text, size_t size_bytes, const char *path, json_t **out,
                             at_error *error);

/* Read a file or a text. After AT_OK the caller calls recorded_deinit(). Errors are as those of
 * recorded_open(); also AT_NOT_FOUND for a record without an entry. */
at_status recorded_read(const char *path, recorded *out, at_error *error);
at_status recorded_parse(const char *text, size_t size_bytes, const char *path, recorded *out,
                         at_error *error);

void recorded_deinit(recorded *r); /* `r` may be zeroed */

/* Returns the results that did not fail, best first. The caller frees the array. */
const recorded_result **recorded_rank(const recorded *r, size_t *count);

/* ---- recorded measurements as a search space ---- */

typedef struct recorded_space {
    space *space;
    uint64_t count;
    double *cost;      /* cost of each configuration; INFINITY if it failed */
    double *elapsed_s; /* time of compiling, checking and running it */
    size_t parameter_count;
    space_parameter *parameters;
    value **values; /* values of each parameter */
} recorded_space;

/* Makes the space of exactly the recorded configurations. The values of a parameter are its
 * recorded values, sorted. Borrows from `r`. AT_INTERNAL if two hashes collide. After AT_OK the
 * caller calls recorded_space_deinit(). */
at_status recorded_space_init(recorded_space *rs, const recorded *r, at_error *error);
void recorded_space_deinit(recorded_space *rs); /* `rs` may be zeroed */

/* ---- starting a search from recorded measurements ---- */

typedef struct warm_start {
    uint64_t *configurations; /* for strategy_options.start; owned */
    size_t count;
    size_t unmatched; /* number of recorded, not failed configurations that the space lacks */
} warm_start;

/* Lists at most `most` recorded configurations that did not fail and are in the space, fastest
 * first. These configurations are worth trying even if they were measured on another device,
 * problem or version. Parameters are matched by name and value. A parameter that was not recorded
 * takes its value from `otherwise`, which has one value index per parameter, usually the
 * baseline's. AT_NOT_FOUND if no parameter matches. */
at_status warm_start_init(warm_start *w, const recorded *r, const space *s,
                          const uint16_t *otherwise, size_t most, at_error *error);
void warm_start_deinit(warm_start *w); /* `w` may be zeroed */

/* ---- replaying a search ---- */

typedef struct replay_options {
    const char *strategy; /* NULL for the default */
    uint64_t evaluations; /* evaluations of a run; if 0, as many as the scores need */
    uint64_t seed;        /* seed of the first run; each further run adds 1 */
    size_t repeat;        /* number of runs, at least 1 */
} replay_options;

/* Searches the recorded space with the strategy; compiles and runs nothing. lua/commands/replay.lua
 * scores the runs. *out is a new reference to [the command's JSON, the figures that only its text
 * needs]; both have the names in `r`, and `path`. Returns AT_USAGE if the strategy is unknown,
 * AT_NOT_FOUND if no recorded configuration works. */
at_status replay_run(const recorded *r, const recorded_space *rs, const char *path,
                     const replay_options *options, json_t **out, at_error *error);

#endif
