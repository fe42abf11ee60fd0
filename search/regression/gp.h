/* A Gaussian process that predicts a number, with its uncertainty, at points of a feature space.
 *
 * Points are rows of features, with observed values at some of them. The process predicts mean and
 * standard deviation at a fixed pool of candidate points. The kernel is Matérn 5/2 with a length
 * for each feature; lengths and noise maximise the posterior density (marginal likelihood times
 * log-normal priors). Sources: Rasmussen & Williams, "Gaussian Processes for Machine Learning"
 * (2006), chapters 2 and 5; Riedmiller & Braun, "RPROP" (1993) for the maximisation.
 *
 * Adding a row costs rows x candidates. A row without a value reduces the uncertainty around its
 * point and changes no mean. Values should be centred and scaled to about 1. */
#ifndef AUTOTUNE_GP_H
#define AUTOTUNE_GP_H

#include <stdbool.h>
#include <stddef.h>

enum { GP_MAX_FEATURES = 64 };

typedef struct gp_kernel {
    double weight[GP_MAX_FEATURES]; /* 1 / length^2 */
    double noise;                   /* variance of the noise / variance of the signal */
} gp_kernel;

typedef struct gp {
    size_t features, row_limit, pool_count, blocks;
    const bool *is_category; /* borrowed */
    const float *pool;       /* pool_count rows of features; borrowed */
    gp_kernel kernel;
    double scale; /* variance of the signal */
    size_t rows;
    float *points;          /* rows x features */
    double *factor;         /* lower triangle of the Cholesky factor, by rows */
    double *whitened;       /* factor^-1 x values; 0 for a row without a value */
    double *values;         /* NAN if unknown */
    float *cross;           /* factor^-1 x kernel(rows, pool), in blocks of candidates */
    float *mean, *variance; /* mean and variance at each candidate, for a signal with variance 1 */
} gp;

/* Allocates for `row_limit` rows and a pool. */
void gp_init(gp *g, size_t features, const bool *is_category, size_t row_limit, const float *pool,
             size_t pool_count);
void gp_deinit(gp *g);

/* Returns the kernel before any fit: all features matter equally. */
gp_kernel gp_prior_kernel(size_t features);

/* Fits `kernel` in at most `steps` steps. `*scale` gets the variance of the signal. */
void gp_fit(gp_kernel *kernel, double *scale, size_t features, const bool *is_category,
            const float *points, const double *values, size_t count, size_t steps);

/* Removes all rows and sets the kernel. The pool's first `pool_count` points become the
 * candidates. */
void gp_reset(gp *g, const gp_kernel *kernel, double scale, size_t pool_count);

/* Adds a row; `v` is NAN if its value is unknown. Returns false if the row limit is reached. */
bool gp_add(gp *g, const float *point, double v);

void gp_set(gp *g, size_t row, double v);

/* Recomputes the means from all values. Called before gp_mean(). */
void gp_update_means(gp *g);

/* Return mean and standard deviation at candidate `c`. */
double gp_mean(const gp *g, size_t c);
double gp_deviation(const gp *g, size_t c);

/* Returns the standard deviation at candidate `c` without the rows that have no value. */
double gp_known_deviation(const gp *g, size_t c);

#endif
