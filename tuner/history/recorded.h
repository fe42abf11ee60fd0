/* Recorded measurements: what a search has measured before, here or with another tool.
 *
 * Names of parameters and, for each configuration measured, its values, what became of it, its cost
 * and the time it took. A recorded owns all its memory. history/history.h reads and writes them. */
#ifndef AUTOTUNE_HISTORY_RECORDED_H
#define AUTOTUNE_HISTORY_RECORDED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/value.h"
#include "device/ceiling.h"
#include "device/outcome.h"

enum { RECORDED_MAX_PARAMETERS = 256 };

typedef struct recorded_result {
    value *values; /* one a parameter; strings live as long as the recorded */
    outcome outcome;
    double cost; /* milliseconds, or the unit of the file's objective; more than 0, lower is better.
                  * INFINITY unless the outcome is ok. */
    double compile_ms, check_ms, run_ms; /* time spent on it; 0: not recorded */
    double *samples_ms;                  /* of single launches; may be NULL */
    size_t sample_count;
    const char *timestamp;  /* ISO 8601; may be NULL */
    double low_ms, high_ms; /* 95 % interval of the cost; 0: not recorded */
    double rate;            /* 10^9 a second, in recorded.rate_unit; 0: not recorded */
    bool has_resources;     /* the members below are known */
    uint32_t registers, spill_bytes, shared_bytes;
    double occupancy; /* 0: not recorded */
} recorded_result;

typedef struct recorded {
    const char **names; /* of the parameters */
    size_t parameter_count;
    recorded_result *results;
    size_t result_count;
    const char *device;      /* "" unknown */
    const char *kernel;      /* "" unknown */
    const char *objective;   /* "time" */
    char problem[512];       /* "rows=8192, cols=8192"; "" unknown */
    const char *rate_unit;   /* "GB/s" */
    double ceiling_rate;     /* in the ceiling's unit; 0 unknown */
    ceiling_kind ceiling;    /* whose rate that is */
    double work[WORK_UNITS]; /* of a launch: bytes that a perfect kernel must move, flops, items; 0
                                unknown */
    double baseline_ms;      /* of the pattern's default; 0 unknown */
    double baseline_rate;
    uint64_t space_count;      /* valid configurations of the space; 0 unknown */
    bool predicted;            /* the times are predictions */
    bool is_record;            /* the best few and the default, not a measured space */
    bool ranked, newest_first; /* order of the results; neither: as they were measured */
    json_t *root;              /* owns the texts */
} recorded;

/* A file format. */
typedef struct recorded_format {
    const char *name; /* as --format takes it */
    /* Is this document of the format? */
    bool (*detect)(const json_t *root);
    /* Reads a document whose root `out` holds already. */
    at_status (*read)(recorded *out, const char *path, at_error *error);
    /* Builds the document (new reference); NULL when out of memory. NULL member: not written. */
    json_t *(*write)(const recorded *r);
} recorded_format;

extern const recorded_format recorded_kernel_tuner;
extern const recorded_format recorded_t4;
extern const recorded_format recorded_run;
extern const recorded_format recorded_record;

/* Formats of lines, which are told by the first: our own journals, and Kernel Launcher's wisdom, of
 * which the results of all devices and problems are read. AT_FORMAT naming the line. */
bool recorded_journal_detect(const char *text, size_t size_bytes);
void recorded_journal_read(const char *text, size_t size_bytes, recorded *out);
bool recorded_wisdom_detect(const char *text, size_t size_bytes);
at_status recorded_wisdom_read(const char *text, size_t size_bytes, const char *path, recorded *out,
                               at_error *error);

void recorded_deinit(recorded *r); /* a zeroed one is fine */

/* Sets the parameters' names, which are borrowed (for formats). */
at_status recorded_set_names(recorded *r, const char *const *names, size_t count, at_error *error);

/* Reads "problem" and the work of a launch from `from` (for formats). */
void recorded_read_problem(recorded *r, const json_t *from);

/* Adds a result with room for the values, valid until the next call (for formats). */
recorded_result *recorded_add(recorded *r);

/* For formats in JSON, each with the file's `path` for errors (AT_FORMAT): */

/* Sets the parameters' names to those of the members of `configuration`; `missing` is the message
 * when it has none. */
at_status recorded_read_names(recorded *r, const json_t *configuration, const char *path,
                              const char *missing, at_error *error);

/* Adds a result with the values of `configuration`; `which` names it in errors. */
at_status recorded_read_values(recorded *r, const json_t *configuration, const char *path,
                               const char *which, recorded_result **out, at_error *error);

/* Sets the result's samples to a list of milliseconds. */
void recorded_read_samples(recorded_result *result, const json_t *list);

/* A member that is a finite number above 0; 0 for anything else. */
double recorded_positive(const json_t *object, const char *name);

/* A member that is a text, or `otherwise`. */
const char *recorded_text(const json_t *object, const char *name, const char *otherwise);

/* Sorts the values and leaves one of equals; returns how many are left. */
size_t recorded_sort_values(value *all, size_t count);

/* The place of a value among sorted ones; `count`: it is none of them. */
size_t recorded_place_of(const value *v, const value *sorted, size_t count);

/* The different values that parameter `p` takes, sorted; the caller frees. */
value *recorded_values_of(const recorded *r, size_t p, size_t *count);

/* The results that work, best first, the first of equals before the others; the caller
 * frees. */
const recorded_result **recorded_rank(const recorded *r, size_t *count);

/* Keeps the first result of each configuration. */
void recorded_drop_repeated(recorded *r);

#endif
