/* A Gaussian process that predicts a number, with its uncertainty, at points of a feature space.
 *
 * In: points as rows of features, and the values observed at some of them. Out: mean and standard
 * deviation at a fixed pool of candidate points. The kernel is Matérn 5/2 with a length for each
 * feature; lengths and noise maximise the posterior density (marginal likelihood times log-normal
 * priors). Sources: Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006),
 * chapters 2 and 5; Riedmiller & Braun, "RPROP" (1993) for the maximisation.
 *
 * Rows are added one at a time at a cost of rows x candidates; a row may stand for a point whose
 * value is not known yet, and then narrows the uncertainty around it without moving any mean. The
 * process owns its memory. Values should be centred and scaled to about 1. */
#ifndef AUTOTUNE_GP_H
#define AUTOTUNE_GP_H

#include <stdbool.h>
#include <stddef.h>

enum { GP_MAX_FEATURES = 64 };

typedef struct gp_kernel {
    double weight[GP_MAX_FEATURES]; /* 1 / length^2 */
    double noise;                   /* variance of the noise, as a share of the signal's */
} gp_kernel;

typedef struct gp {
    size_t features, row_limit, pool_count, blocks;
    const bool *is_category; /* borrowed */
    const float *pool;       /* borrowed: a row of features for each candidate */
    gp_kernel kernel;
    double scale; /* variance of the signal */
    size_t rows;
    float *points;          /* rows x features */
    double *factor;         /* lower triangle of the Cholesky factor, row after row */
    double *whitened;       /* factor^-1 x values; 0 where the value is not known */
    double *values;         /* NAN: not known */
    float *cross;           /* factor^-1 x kernel(rows, pool), in blocks of candidates */
    float *mean, *variance; /* of each candidate, for a signal of variance 1 */
} gp;

/* Makes room for `row_limit` rows over a pool. */
void gp_init(gp *g, size_t features, const bool *is_category, size_t row_limit, const float *pool,
             size_t pool_count);
void gp_deinit(gp *g); /* a zeroed one is fine */

/* The kernel to begin with: no feature matters more than another. */
gp_kernel gp_prior_kernel(size_t features);

/* Improves `kernel` for these observations in at most `steps` steps; *scale receives the signal's
 * variance. */
void gp_fit(gp_kernel *kernel, double *scale, size_t features, const bool *is_category,
            const float *points, const double *values, size_t count, size_t steps);

/* Removes all rows and sets the kernel. The first `pool_count` of the pool's points (which may have
 * changed) are the candidates from now on. */
void gp_reset(gp *g, const gp_kernel *kernel, double scale, size_t pool_count);

/* Adds a row; `v` is NAN when its value is not known. False when the limit is reached. */
bool gp_add(gp *g, const float *point, double v);

/* Sets the value of a row. */
void gp_set(gp *g, size_t row, double v);

/* Brings the means up to date with all values set; call before reading them. */
void gp_update_means(gp *g);

/* Mean and standard deviation at candidate `c` of the pool. */
double gp_mean(const gp *g, size_t c);
double gp_deviation(const gp *g, size_t c);

#endif
