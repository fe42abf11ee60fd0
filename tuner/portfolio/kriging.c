#include "portfolio/kriging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Doublings within which times change little; what is left of the likeness where divisibility differs; the variance of
 * noise, over that of what was timed. Chosen on the portfolios of five patterns, by cross-validation. */
static const double reach = 4, other_class = 0.7, noise = 0.02;

/* How much it counts, beside the time itself, that the default may have been faster. */
static const double caution = 0.5;

/* What is slower is as bad. */
static const double most_ratio = 4;

enum { COLUMNS = RECORD_MAX_KEPT + 1 };

struct kriging {
    const portfolio_axis *axes;
    size_t axis_count;
    const value *problems;
    size_t rows, columns;
    double *likeness; /* of all rows: the lower triangle */
    double *factor;  /* Cholesky's, of that with noise */
    double *weights; /* of the rows, for each column; 0 where it was impossible */
    double *scratch; /* rows */
    double means[COLUMNS], spreads[COLUMNS];
    bool known[COLUMNS];
};

double kriging_likeness(const portfolio_axis *axes, size_t axis_count, const value *a, const value *b)
{
    double squares = 0, alike = 1;
    for (size_t i = 0; i < axis_count; i++) {
        if (a[i].kind != VALUE_INTEGER || b[i].kind != VALUE_INTEGER) {
            if (!value_equal(a[i], b[i]))
                return 0;
            continue;
        }
        double d = log2((fabs((double)a[i].integer) + 1) / (fabs((double)b[i].integer) + 1));
        squares += d * d;
        if (portfolio_class(&axes[i], a[i].integer) != portfolio_class(&axes[i], b[i].integer))
            alike *= other_class;
    }
    double d = sqrt(3 * squares) / reach;
    return alike * (1 + d) * exp(-d);
}

/* Replaces the lower triangle of a positive definite matrix by its factor. */
static void factorise(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j * n + j];
        }
}

/* x := L^-1 x */
static void solve_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
}

/* x := L^-T x */
static void solve_upper(const double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        x[i] /= factor[i * n + i];
        for (size_t k = 0; k < i; k++)
            x[k] -= factor[i * n + k] * x[i];
    }
}

static double ratio_at(const portfolio_matrix *m, size_t row, size_t column)
{
    return column == m->configuration_count ? m->defaults[row] : m->ratios[row * m->configuration_count + column];
}

static double best_of(const portfolio_matrix *m, size_t row)
{
    double best = INFINITY;
    for (size_t c = 0; c <= m->configuration_count; c++)
        if (ratio_at(m, row, c) > 0)
            best = fmin(best, ratio_at(m, row, c));
    return best;
}

static const value *row_of(const kriging *k, size_t row)
{
    return &k->problems[row * k->axis_count];
}

/* The factor of the likenesses of some rows, ascending. */
static void factorise_rows(const kriging *k, const size_t *rows, size_t count, double *factor)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            factor[i * count + j] = k->likeness[rows[i] * k->rows + rows[j]] + (i == j ? noise : 0);
    factorise(factor, count);
}

/* Learns a column from the rows where it was possible. */
static void learn(kriging *k, const portfolio_matrix *m, size_t column, size_t *rows, double *factor)
{
    size_t count = 0;
    double sum = 0, squares = 0, *y = k->scratch;
    for (size_t row = 0; row < k->rows; row++) {
        double ratio = ratio_at(m, row, column);
        if (!(ratio > 0))
            continue;
        y[count] = log(fmin(ratio / best_of(m, row), most_ratio));
        sum += y[count];
        rows[count++] = row;
    }
    if (!(k->known[column] = count > 0))
        return;
    double mean = k->means[column] = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        y[i] -= mean;
        squares += y[i] * y[i];
    }
    k->spreads[column] = sqrt(squares / (double)count);
    if (count < k->rows)
        factorise_rows(k, rows, count, factor);
    const double *use = count < k->rows ? factor : k->factor;
    solve_lower(use, count, y);
    solve_upper(use, count, y);
    for (size_t i = 0; i < count; i++)
        k->weights[column * k->rows + rows[i]] = y[i];
}

at_status kriging_new(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count, const value *problems,
                      kriging **out, at_error *error)
{
    size_t n = m->problem_count, columns = m->configuration_count + 1;
    kriging *k = calloc(1, sizeof *k);
    size_t *rows = calloc(n + 1, sizeof *rows);
    double *factor = calloc(n * n + 1, sizeof *factor);
    *out = NULL;
    if (k)
        *k = (kriging){.axes = axes,
                       .axis_count = axis_count,
                       .problems = problems,
                       .rows = n,
                       .columns = columns,
                       .likeness = calloc(n * n + 1, sizeof *k->likeness),
                       .factor = calloc(n * n + 1, sizeof *k->factor),
                       .weights = calloc(n * columns + 1, sizeof *k->weights),
                       .scratch = calloc(n + 1, sizeof *k->scratch)};
    if (k && rows && factor && k->likeness && k->factor && k->weights && k->scratch) {
        for (size_t i = 0; i < n; i++) {
            rows[i] = i;
            for (size_t j = 0; j <= i; j++)
                k->likeness[i * n + j] = kriging_likeness(axes, axis_count, row_of(k, i), row_of(k, j));
        }
        factorise_rows(k, rows, n, k->factor);
        for (size_t c = 0; c < columns; c++)
            learn(k, m, c, rows, factor);
        *out = k;
    } else {
        kriging_free(k);
    }
    free(rows);
    free(factor);
    return *out ? AT_OK : error_set(error, AT_NO_MEMORY, "no memory to compare %zu problems", n);
}

void kriging_free(kriging *k)
{
    if (!k)
        return;
    free(k->likeness);
    free(k->factor);
    free(k->weights);
    free(k->scratch);
    free(k);
}

void kriging_expect(const kriging *k, const value *problem, double *ratios)
{
    double logs[COLUMNS];
    memcpy(logs, k->means, sizeof logs);
    for (size_t row = 0; row < k->rows; row++) {
        double likeness = kriging_likeness(k->axes, k->axis_count, row_of(k, row), problem);
        for (size_t c = 0; c < k->columns; c++)
            logs[c] += likeness * k->weights[c * k->rows + row];
    }
    for (size_t c = 0; c < k->columns; c++)
        ratios[c] = k->known[c] ? exp(logs[c]) : 0;
}

/* How little is known of a problem: 0, it was timed, to 1, it is far from all that were: the variance that is left. */
static double doubt_of(const kriging *k, const value *problem)
{
    double known = 0, *x = k->scratch;
    for (size_t row = 0; row < k->rows; row++)
        x[row] = kriging_likeness(k->axes, k->axis_count, row_of(k, row), problem);
    solve_lower(k->factor, k->rows, x);
    for (size_t row = 0; row < k->rows; row++)
        known += x[row] * x[row];
    return fmax(0, fmin(1, 1 - known));
}

/* What one that is `behind` by expectation is ahead by, on average, if their difference is off by `off` (a standard
 * deviation): the expected improvement of Jones, Schonlau & Welch, 1998. */
static double mean_gain(double behind, double off)
{
    double z = behind / off;
    return off * (exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846) - z * erfc(z / sqrt(2)) / 2);
}

void kriging_beware(const kriging *k, const value *problem, double *ratios)
{
    size_t last = k->columns - 1;
    /* What chance alone leaves unsure is no doubt about the problem. */
    double doubt = sqrt(fmax(0, doubt_of(k, problem) - noise));
    for (size_t c = 0; c < last && ratios[last] > 0; c++) {
        double off = doubt * hypot(k->spreads[c], k->spreads[last]);
        if (ratios[c] > 0 && off > 0)
            ratios[c] += caution * ratios[last] * mean_gain(log(ratios[last] / ratios[c]), off);
    }
}

double kriging_risk(const kriging *k, const value *problem, const bool *possible)
{
    double ratios[COLUMNS], most = 0, doubt = sqrt(doubt_of(k, problem));
    size_t best = SIZE_MAX;
    kriging_expect(k, problem, ratios);
    for (size_t c = 0; c < k->columns; c++)
        if (possible[c] && ratios[c] > 0 && (best == SIZE_MAX || ratios[c] < ratios[best]))
            best = c;
    for (size_t c = 0; c < k->columns && best != SIZE_MAX; c++) {
        double off = doubt * hypot(k->spreads[c], k->spreads[best]);
        if (c != best && possible[c] && ratios[c] > 0 && off > 0)
            most = fmax(most, mean_gain(log(ratios[c] / ratios[best]), off));
    }
    return most;
}
