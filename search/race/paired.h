/* Two series of samples compared block by block.
 *
 * Sample b of both series was taken in the same block, so what the machine did to the block cancels
 * in the ratio. The comparison is of logarithms of ratios: 10 % trimmed mean with its Yuen standard
 * error. Nothing here allocates or fails; samples must be positive. */
#ifndef AUTOTUNE_PAIRED_H
#define AUTOTUNE_PAIRED_H

#include <stddef.h>
#include <stdint.h>

typedef struct paired {
    double mean;    /* of log(a / b): above 0, a is slower */
    double error;   /* standard error of the mean; INFINITY below two blocks */
    double freedom; /* degrees of freedom of the error */
    double tick;    /* what an undithered clock could hide of the ratio; 0: nothing */
} paired;

/* Compares `a` to `b` over `blocks` blocks. `tick_ns` is the clock's resolution (0: ignore it):
 * when the samples vary by less, rounding does not average out and up to a tick of the mean is
 * unknown. `scratch` holds `blocks` doubles. */
paired paired_compare(const int64_t *a, const int64_t *b, size_t blocks, int64_t tick_ns,
                      double *scratch);

/* How many standard errors a one-sided bound is from the mean of `blocks` blocks, to be wrong with
 * probability `tail` (Student's t); 1 where there is no standard error. */
double paired_quantile(double tail, size_t blocks);

/* Half of the interval around the mean at `quantile` standard errors, never below the tick. */
double paired_half_width(const paired *p, double quantile);

#endif
