/* The results of runs and of curves as JSON: the object that --json prints, and further values for
 * the text (templates/pages). All functions return new references, or NULL if memory is short or a
 * name is not UTF-8. */
#ifndef AUTOTUNE_REPORT_REPORT_H
#define AUTOTUNE_REPORT_REPORT_H

#include <jansson.h>
#include <stddef.h>

#include "record/summary.h"

/* Makes the object that --json prints (members: report.c), with at most `top` results. */
json_t *report_pack(const run_summary *s, size_t top);

/* Makes the text's further values (members: report.c): `top` rows, and always the baseline. */
json_t *report_pack_text_values(const run_summary *s, size_t top);

/* ---- curves: the best configuration at each point of a sweep over variables of the problem ----
 *
 * The first axis varies slowest. A point without a winner has a message that says why. */

enum { CURVE_MAX_AXES = 8 };

/* If memory is short, a JSON member is NULL and stays NULL: callers check once, at the end. */
typedef struct curve {
    json_t *over, *points, *words;  /* owned */
    char pattern[128], device[256]; /* "" until a point has a summary */
    char unit[WORK_RATE_BYTES];     /* unit of the shown rates */
    char ceiling[WORK_RATE_BYTES];  /* name of the ceiling; "ceiling" if points have several */
    work_unit shown;
    bool predicted, warm_cache;
    size_t found; /* number of points with a winner */
} curve;

/* Makes a curve over `count` variables called `names`, at most CURVE_MAX_AXES. */
void curve_init(curve *c, const char *const *names, size_t count);
void curve_deinit(curve *c); /* `c` may be zeroed */

/* Appends a point; `values` has one text per variable. If `s` is NULL or has no winner, the point's
 * message is `why`. Copies everything. */
void curve_add(curve *c, const char *const *values, const run_summary *s, const char *why);

/* Makes {pattern, device, ceiling, rate_unit, predicted, cache, over [name], points [{at {name:
 * text}, problem {name: value}, config {name: value}, time_ns, ci_ns [low, high], gbps, gflops,
 * gitems, ceiling_fraction, speedup, baseline_gbps, verdict, tied, record} or {at, message}]}. */
json_t *curve_pack(const curve *c);

/* Makes a list of unrounded {rate, share, speedup}, one per point, 0 if unknown; {} for a point
 * without a winner. */
json_t *curve_pack_figures(const curve *c);

#endif
