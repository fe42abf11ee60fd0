/* Recorded measurements: what a search has measured before, here or with another tool.
 *
 * Kernel Tuner's caches, T4 results, our own journals, runs and records, and Kernel Launcher's
 * wisdom, plain or gzip. lua/lib/recorded.lua reads the formats. Files come from other people: what
 * is missing or of the wrong type is an error that names the file and the result. */
#ifndef AUTOTUNE_HISTORY_RECORDED_H
#define AUTOTUNE_HISTORY_RECORDED_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"
#include "base/value.h"

enum { RECORDED_MAX_PARAMETERS = 256 };

typedef struct recorded_result {
    value *values;    /* one for each parameter */
    double cost;      /* in milliseconds, or in the unit of the file's objective; INFINITY if the
                       * configuration did not work */
    double elapsed_s; /* time spent compiling, checking and running */
} recorded_result;

/* Owns all its memory. */
typedef struct recorded {
    const char **names; /* of the parameters */
    size_t parameter_count;
    recorded_result *results; /* each configuration once */
    size_t result_count;
    const char *device, *kernel; /* "" if unknown */
    const char *objective;       /* "time" */
    json_t *root;                /* owns the texts */
} recorded;

/* Reads a file as the JSON that lua/lib/recorded.lua takes, {format, content}: a new reference.
 * Errors: AT_NOT_FOUND, AT_IO, AT_FORMAT. */
at_status recorded_open(const char *path, json_t **out, at_error *error);

/* Reads such JSON from text; `path` is for messages. */
at_status recorded_open_text(const char *text, size_t size_bytes, const char *path, json_t **out,
                             at_error *error);

/* Reads a file or a text. Errors: as recorded_open(); AT_NOT_FOUND for a record without an entry.
 * After AT_OK the caller calls recorded_deinit(). */
at_status recorded_read(const char *path, recorded *out, at_error *error);
at_status recorded_parse(const char *text, size_t size_bytes, const char *path, recorded *out,
                         at_error *error);

void recorded_deinit(recorded *r); /* a zeroed one is fine */

/* Returns the place of a value among sorted ones, or `count` if it is not among them. */
size_t recorded_place_of(const value *v, const value *sorted, size_t count);

/* Returns the different values of parameter `p`, sorted; the caller frees. */
value *recorded_values_of(const recorded *r, size_t p, size_t *count);

/* Returns the results that work, best first, the first of equals before the others; the caller
 * frees. */
const recorded_result **recorded_rank(const recorded *r, size_t *count);

#endif
