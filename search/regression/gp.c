#include "search/regression/gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

/* Candidates are processed in blocks of this size, which compilers vectorise. */
enum { LANES = 16 };

/* Wide log-normal priors, for features in [0, 1] and values with variance 1. The prior length is
 * large, because most of many features matter little: with a short length, points that differ in
 * several features are unrelated until enough outcomes fit lengths, and a small search ends before
 * that. Compare Hvarfner, Hellsten & Nardi, "Vanilla Bayesian optimization performs great in high
 * dimensions" (2024). */
static const double length_prior_median = 2.2, length_prior_deviation = 0.9;
static const double noise_prior_median = 0.01, noise_prior_deviation = 1.5;
static const double noise_least = 1e-4;

static const double root5 = 2.23606797749979;

gp_kernel gp_prior_kernel(size_t features)
{
    gp_kernel k = {.noise = noise_prior_median};
    for (size_t f = 0; f < features; f++)
        k.weight[f] = 1 / (length_prior_median * length_prior_median);
    return k;
}

static double squared_distance(const gp_kernel *k, size_t features, const bool *is_category,
                               const float *a, const float *b)
{
    double sum = 0;
    for (size_t f = 0; f < features; f++) {
        double d = is_category[f] ? a[f] != b[f] : (double)a[f] - (double)b[f];
        sum += k->weight[f] * d * d;
    }
    return sum;
}

static double matern(double squared)
{
    double r = root5 * sqrt(squared);
    return (1 + r + r * r / 3) * exp(-r);
}

void gp_init(gp *g, size_t features, const bool *is_category, size_t row_limit, const float *pool,
             size_t pool_count)
{
    *g = (gp){.features = features,
              .is_category = is_category,
              .row_limit = row_limit,
              .pool = pool,
              .pool_count = pool_count,
              .blocks = (pool_count + LANES - 1) / LANES,
              .scale = 1};
    g->points = memory_new(row_limit * features, sizeof *g->points);
    g->factor = memory_new(row_limit * (row_limit + 1) / 2, sizeof *g->factor);
    g->whitened = memory_new(row_limit, sizeof *g->whitened);
    g->values = memory_new(row_limit, sizeof *g->values);
    g->cross = memory_new(row_limit * g->blocks * LANES, sizeof *g->cross);
    g->mean = memory_new(g->blocks * LANES, sizeof *g->mean);
    g->variance = memory_new(g->blocks * LANES, sizeof *g->variance);
}

void gp_deinit(gp *g)
{
    free(g->points);
    free(g->factor);
    free(g->whitened);
    free(g->values);
    free(g->cross);
    free(g->mean);
    free(g->variance);
    *g = (gp){0};
}

void gp_reset(gp *g, const gp_kernel *kernel, double scale, size_t pool_count)
{
    g->pool_count = pool_count;
    g->blocks = (pool_count + LANES - 1) / LANES;
    g->kernel = *kernel;
    g->scale = scale;
    g->rows = 0;
    for (size_t c = 0; c < g->blocks * LANES; c++) {
        g->mean[c] = 0;
        g->variance[c] = 1;
    }
}

static double *factor_row(double *factor, size_t row)
{
    return factor + row * (row + 1) / 2;
}

static float *cross_block(const gp *g, size_t block)
{
    return g->cross + block * g->row_limit * LANES;
}

static void whiten_block(gp *g, size_t block, const double *factor, float inverse_pivot,
                         const float *point)
{
    float *cross = cross_block(g, block);
    float sum[LANES];
    for (size_t i = 0; i < LANES; i++) {
        size_t c = block * LANES + i;
        sum[i] = c < g->pool_count
                     ? (float)matern(squared_distance(&g->kernel, g->features, g->is_category,
                                                      point, g->pool + c * g->features))
                     : 0;
    }
    for (size_t j = 0; j < g->rows; j++) {
        float l = (float)factor[j];
        for (size_t i = 0; i < LANES; i++)
            sum[i] -= l * cross[j * LANES + i];
    }
    float *variance = g->variance + block * LANES;
    for (size_t i = 0; i < LANES; i++) {
        float v = sum[i] * inverse_pivot;
        cross[g->rows * LANES + i] = v;
        variance[i] -= v * v;
    }
}

bool gp_add(gp *g, const float *point, double v)
{
    if (g->rows == g->row_limit)
        return false;
    size_t n = g->rows;
    double *row = factor_row(g->factor, n), pivot = 1 + g->kernel.noise;
    for (size_t j = 0; j < n; j++) {
        const double *other = factor_row(g->factor, j);
        double sum = matern(squared_distance(&g->kernel, g->features, g->is_category, point,
                                             g->points + j * g->features));
        for (size_t i = 0; i < j; i++)
            sum -= row[i] * other[i];
        row[j] = sum / other[j];
        pivot -= row[j] * row[j];
    }
    row[n] = sqrt(pivot > noise_least ? pivot : noise_least);
    memcpy(g->points + n * g->features, point, g->features * sizeof *point);
    for (size_t b = 0; b < g->blocks; b++)
        whiten_block(g, b, row, (float)(1 / row[n]), point);
    g->values[n] = v;
    g->whitened[n] = 0;
    g->rows++;
    return true;
}

void gp_set(gp *g, size_t row, double v)
{
    g->values[row] = v;
}

/* Outcomes come nearly in order, so few rows change. Adding their changes to the means is much
 * faster than adding up all rows. */
void gp_update_means(gp *g)
{
    for (size_t r = 0; r < g->rows; r++) {
        const double *row = factor_row(g->factor, r);
        double sum = g->values[r];
        for (size_t j = 0; j < r; j++)
            sum -= row[j] * g->whitened[j];
        /* A row without a value gets its prediction from the rows before. */
        const double now = isnan(sum) ? 0 : sum / row[r];
        const float change = (float)(now - g->whitened[r]);
        g->whitened[r] = now;
        for (size_t b = 0; change != 0 && b < g->blocks; b++) {
            const float *cross = cross_block(g, b) + r * LANES;
            float *mean = g->mean + b * LANES;
            for (size_t i = 0; i < LANES; i++)
                mean[i] += change * cross[i];
        }
    }
}

double gp_mean(const gp *g, size_t c)
{
    return (double)g->mean[c];
}

static double deviation_of(const gp *g, double variance)
{
    return sqrt(g->scale * (variance > 1e-9 ? variance : 1e-9));
}

double gp_deviation(const gp *g, size_t c)
{
    return deviation_of(g, (double)g->variance[c]);
}

double gp_known_deviation(const gp *g, size_t c)
{
    const float *cross = cross_block(g, c / LANES) + c % LANES;
    double variance = (double)g->variance[c];
    for (size_t r = 0; r < g->rows; r++)
        if (isnan(g->values[r]))
            variance += (double)cross[r * LANES] * (double)cross[r * LANES];
    return deviation_of(g, variance);
}

/* The maximisation of the posterior density, over the logarithms of the lengths and of the
 * noise. */
typedef struct climb {
    size_t features, count;
    const bool *is_category;
    const float *points;
    const double *values;
    double *matrix; /* count x count: the kernel, then its factor, then its inverse */
    double *slope;  /* d kernel / d squared distance */
    double *alpha;  /* inverse x values */
    double scale;
} climb;

static void fill_matrix(climb *c, const gp_kernel *k)
{
    size_t n = c->count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            double s = squared_distance(k, c->features, c->is_category, c->points + i * c->features,
                                        c->points + j * c->features);
            double r = root5 * sqrt(s), e = exp(-r);
            c->matrix[i * n + j] = (1 + r + r * r / 3) * e;
            c->slope[i * n + j] = -5.0 / 6 * (1 + r) * e;
        }
        c->matrix[i * n + i] = 1 + k->noise;
    }
}

static void invert_factor(double *m, double *scratch, size_t n)
{
    /* `scratch` gets L^-1 transposed, in its upper triangle, so that its rows are contiguous. */
    for (size_t j = 0; j < n; j++) {
        double *column = scratch + j * n;
        column[j] = 1 / m[j * n + j];
        for (size_t i = j + 1; i < n; i++) {
            double s = 0;
            for (size_t k = j; k < i; k++)
                s -= m[i * n + k] * column[k];
            column[i] = s / m[i * n + i];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double s = 0;
            for (size_t k = i; k < n; k++)
                s += scratch[i * n + k] * scratch[j * n + k];
            m[i * n + j] = s;
        }
}

static void multiply_inverse(climb *c)
{
    size_t n = c->count;
    for (size_t i = 0; i < n; i++) {
        double s = 0;
        for (size_t j = 0; j < n; j++)
            s += c->matrix[(j <= i ? i : j) * n + (j <= i ? j : i)] * c->values[j];
        c->alpha[i] = s;
    }
}

static double log_prior(double logarithm, double median, double deviation, double *gradient)
{
    double z = (logarithm - log(median)) / deviation;
    *gradient -= z / deviation;
    return -z * z / 2;
}

static gp_kernel kernel_from(const double *at, size_t features)
{
    gp_kernel k = {.noise = noise_least + exp(at[features])};
    for (size_t f = 0; f < features; f++)
        k.weight[f] = exp(-2 * at[f]);
    return k;
}

/* Computes the logarithm of the posterior density (up to a constant) and its gradient, for the most
 * likely variance of the signal. Returns NAN if the matrix cannot be factored. */
static double density(climb *c, double *scratch, const double *at, double *gradient)
{
    size_t n = c->count, features = c->features;
    gp_kernel k = kernel_from(at, features);
    fill_matrix(c, &k);
    if (!cholesky_factor(c->matrix, n, 0))
        return NAN;
    double half_log_determinant = cholesky_log_determinant(c->matrix, n);
    invert_factor(c->matrix, scratch, n);
    multiply_inverse(c);
    double fit = 0;
    for (size_t i = 0; i < n; i++)
        fit += c->values[i] * c->alpha[i];
    /* An extra observation keeps the variance above 0 if all values are equal. */
    c->scale = (fit + 1) / ((double)n + 1);
    double result = -half_log_determinant - ((double)n + 1) / 2 * log(c->scale);
    memset(gradient, 0, (features + 1) * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        const float *a = c->points + i * features;
        for (size_t j = 0; j < i; j++) {
            const float *b = c->points + j * features;
            double pull = c->alpha[i] * c->alpha[j] / c->scale - c->matrix[i * n + j];
            double each = -2 * pull * c->slope[i * n + j];
            for (size_t f = 0; f < features; f++) {
                double d = c->is_category[f] ? a[f] != b[f] : (double)a[f] - (double)b[f];
                gradient[f] += each * k.weight[f] * d * d;
            }
        }
        gradient[features] +=
            0.5 * exp(at[features]) * (c->alpha[i] * c->alpha[i] / c->scale - c->matrix[i * n + i]);
    }
    for (size_t f = 0; f < features; f++)
        result += log_prior(at[f], length_prior_median, length_prior_deviation, &gradient[f]);
    return result +
           log_prior(at[features], noise_prior_median, noise_prior_deviation, &gradient[features]);
}

/* Maximises by RPROP: each parameter has a step, which grows while its gradient keeps its sign. */
static void climb_density(climb *c, double *scratch, double *best_at, double *best_scale,
                          size_t steps)
{
    double at[GP_MAX_FEATURES + 1], gradient[GP_MAX_FEATURES + 1], before[GP_MAX_FEATURES + 1];
    double step[GP_MAX_FEATURES + 1];
    size_t parameters = c->features + 1;
    double best = -INFINITY;
    memcpy(at, best_at, parameters * sizeof *at);
    for (size_t p = 0; p < parameters; p++) {
        step[p] = 0.2;
        before[p] = 0;
    }
    for (size_t i = 0; i < steps; i++) {
        double reached = density(c, scratch, at, gradient);
        if (isnan(reached))
            return;
        if (reached > best) {
            best = reached;
            *best_scale = c->scale;
            memcpy(best_at, at, parameters * sizeof *at);
        }
        double largest = 0;
        for (size_t p = 0; p < parameters; p++) {
            double agreement = gradient[p] * before[p];
            step[p] *= agreement > 0 ? 1.2 : agreement < 0 ? 0.5 : 1;
            step[p] = step[p] > 1 ? 1 : step[p];
            before[p] = agreement < 0 ? 0 : gradient[p];
            at[p] += before[p] > 0 ? step[p] : before[p] < 0 ? -step[p] : 0;
            largest = step[p] > largest ? step[p] : largest;
        }
        if (largest < 0.01)
            return;
    }
}

void gp_fit(gp_kernel *kernel, double *scale, size_t features, const bool *is_category,
            const float *points, const double *values, size_t count, size_t steps)
{
    climb c = {.features = features,
               .is_category = is_category,
               .count = count,
               .points = points,
               .values = values};
    double at[GP_MAX_FEATURES + 1];
    c.matrix = memory_new(count * count, sizeof *c.matrix);
    c.slope = memory_new(count * count, sizeof *c.slope);
    c.alpha = memory_new(count, sizeof *c.alpha);
    double *scratch = memory_new(count * count, sizeof *scratch);
    for (size_t f = 0; f < features; f++)
        at[f] = -0.5 * log(kernel->weight[f]);
    at[features] = log(kernel->noise > 2 * noise_least ? kernel->noise - noise_least : noise_least);
    climb_density(&c, scratch, at, scale, steps);
    *kernel = kernel_from(at, features);
    free(c.matrix);
    free(c.slope);
    free(c.alpha);
    free(scratch);
}
