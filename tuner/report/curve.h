/* A curve: the best configuration at each point of a sweep over variables of the problem.
 *
 * In: the summary of the run at each point. Out: what --json prints of it, and what its table and
 * its picture need beside that. Points are added in the order of a product of axes, the first
 * varying slowest; a point without a winner has a message that says why. */
#ifndef AUTOTUNE_REPORT_CURVE_H
#define AUTOTUNE_REPORT_CURVE_H

#include <jansson.h>
#include <stddef.h>

#include "record/summary.h"

enum { CURVE_MAX_AXES = 8 };

/* `pattern` is empty until a point had a summary. When memory runs out a list becomes NULL and
 * stays it, so that callers see it once, at the end. */
typedef struct curve {
    json_t *over, *points, *words;  /* owned */
    char pattern[128], device[256]; /* "": no point had a summary yet */
    char unit[WORK_RATE_BYTES];     /* of the rates that are shown */
    char ceiling[WORK_RATE_BYTES];  /* what the shares are of; "ceiling": of several */
    work_unit shown;
    bool predicted, warm_cache;
    size_t found; /* points with a winner */
} curve;

/* A curve over `count` variables, up to CURVE_MAX_AXES, named `names`. */
void curve_init(curve *c, const char *const *names, size_t count);
void curve_deinit(curve *c); /* a zeroed one is fine */

/* Appends the point at `values`, one text a variable. `why` is its message when `s` is NULL or has
 * no winner. Everything is copied. */
void curve_add(curve *c, const char *const *values, const run_summary *s, const char *why);

/* {pattern, device, ceiling, rate_unit, predicted, cache, over [name], points [{at {name: text},
 * problem {name: value}, config {name: value}, time_ns, ci_ns [low, high], gbps, gflops, gitems,
 * ceiling_fraction, speedup, baseline_gbps, verdict, tied, record, or message}]}. New reference;
 * NULL when memory ran out. */
json_t *curve_pack(const curve *c);

/* The figures of each point, to the last digit: [{rate, share, speedup}], 0 where one is not known;
 * a point without a winner has none. New reference. */
json_t *curve_pack_words(const curve *c);

#endif
