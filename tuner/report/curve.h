/* A curve: the best configuration at each point of a sweep over variables of the problem.
 *
 * In: the summary of the run at each point. Out: a table, one JSON object, or a gnuplot script that
 * draws the curve. Points are added in the order of a product of axes, the first varying slowest; a
 * point without a winner has a message that says why. */
#ifndef AUTOTUNE_REPORT_CURVE_H
#define AUTOTUNE_REPORT_CURVE_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "record/summary.h"

enum { CURVE_MAX_AXES = 8 };

typedef struct curve curve;

/* A curve over `count` variables, up to CURVE_MAX_AXES, named `names`. The caller frees it.
 * AT_NO_MEMORY. */
at_status curve_new(const char *const *names, size_t count, curve **out, at_error *error);
void curve_free(curve *c); /* NULL is fine */

/* Appends the point at `values`, one text a variable. `why` is its message when `s` is NULL or has
 * no winner. Everything is copied. AT_NO_MEMORY. */
at_status curve_add(curve *c, const char *const *values, const run_summary *s, const char *why,
                    at_error *error);
size_t curve_found(const curve *c); /* points with a winner */

/* Prints a line for each point: time, rate, share of the ceiling, the baseline's rate, and the
 * parameters in which the winners differ. AT_IO. */
at_status curve_print(const curve *c, FILE *to, at_error *error);

/* {pattern, device, predicted, cache, over [name], points [{at {name: text}, problem {name: value},
 * config {name: value}, time_ns, ci_ns [low, high], gbps, gflops, gitems, ceiling_fraction,
 * speedup, baseline_gbps, verdict, tied, record, or message}]} and a newline. AT_IO,
 * AT_NO_MEMORY. */
at_status curve_print_json(const curve *c, FILE *to, at_error *error);

/* Writes a gnuplot script: the rate over the first variable, a line for every combination of the
 * others, and the baseline's beside it. `path`, the picture's file, must end in .png or .svg
 * (AT_USAGE). AT_IO. */
at_status curve_plot(const curve *c, const char *path, FILE *to, at_error *error);

#endif
