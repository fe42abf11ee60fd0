/* Measurements in blocks: the comparison of two series, and balanced orders of a block.
 *
 * Sample i of both series was taken in block i, so the state of the machine during the block
 * cancels in the ratio. The comparison is the 10 % trimmed mean of the logarithms of the ratios,
 * with Yuen's standard error. Samples must be positive. Nothing here allocates or fails. */
#ifndef AUTOTUNE_PAIRED_H
#define AUTOTUNE_PAIRED_H

#include <stddef.h>
#include <stdint.h>

typedef struct paired {
    double mean;  /* mean of log(a / b); above 0 if `a` is slower */
    double error; /* standard error of the mean; INFINITY below two blocks */
    double tick;  /* error of the mean by the clock's resolution; 0 if it averages out */
} paired;

/* Compares `a` to `b` over `blocks` blocks. `tick_ns` is the clock's resolution, or 0 to ignore it.
 * If the samples vary by less than a tick, the mean may be wrong by up to a tick. `scratch` holds
 * `blocks` doubles. */
paired paired_compare(const int64_t *a, const int64_t *b, size_t blocks, int64_t tick_ns,
                      double *scratch);

/* Returns the distance, in standard errors, of a one-sided bound that is wrong with probability
 * `tail` (Student's t), for a mean over `blocks` blocks. Returns 1 if there is no standard
 * error. */
double paired_quantile(double tail, size_t blocks);

/* Returns half the width of the interval of `quantile` standard errors, at least the tick. */
double paired_half_width(const paired *p, double quantile);

/* ---- balanced orders ----
 * Williams designs: over the rows of a design every item has every position equally often and
 * follows every other item equally often, so no item is favoured by its position or by the item
 * before. Source: Williams, "Experimental designs balanced for the estimation of residual effects
 * of treatments", 1949. */

/* Returns the number of rows of the design: `items` if it is even, 2 * `items` if it is odd, but 1
 * for 0 or 1. */
size_t balance_rows(size_t items);

/* Writes the order of row `row` (modulo the number of rows). */
void balance_row(size_t items, size_t row, uint32_t *order);

#endif
