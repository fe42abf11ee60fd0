/* Statistics of time samples: order statistics and robust comparisons. No clock, no device.
 *
 * Samples are int64 nanoseconds. Sources: ranks of the median's interval, Hettmansperger & Sheather
 * 1986; trimmed mean and its standard error, Yuen 1974. */
#ifndef AUTOTUNE_STATS_H
#define AUTOTUNE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stats_summary {
    size_t count;
    int64_t min_ns, q1_ns, median_ns, q3_ns, max_ns;
    int64_t low_ns, high_ns; /* 95 % interval of the median (order statistics); min/max below 6 */
} stats_summary;

/* Sorts `samples` in place and summarises them; count 0 gives all zeros. */
stats_summary stats_summarise(int64_t *samples_ns, size_t count);

/* Trimmed mean of `values` (sorted in place), dropping floor(fraction * n) at each end, and its
 * Yuen standard error (INFINITY below 2 remaining values). */
double stats_trimmed_mean(double *values, size_t count, double fraction, double *standard_error);

#endif
