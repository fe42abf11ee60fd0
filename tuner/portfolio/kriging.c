#include "portfolio/kriging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stats.h"

enum {
    COLUMNS = RECORD_MAX_KEPT + 1,
    LENGTHS = PORTFOLIO_MAX_AXES * (PORTFOLIO_MAX_AXES + 1) / 2 + PORTFOLIO_MAX_FEATURES,
    /* rows to which the parameters are fitted; with 160, more was lost in cross-validation */
    FIT_ROWS = 320,
    FIT_ROUNDS = 2,
    NOISE_ROWS = 1024,  /* rows to which the noise is fitted; half of them give a greater noise */
    NOISE_PARTS = 5,    /* parts of these NOISE_ROWS rows; each part is predicted from the others */
    LEAST_FIT_ROWS = 40 /* with fewer rows, the fit would be random */
};

/* The parameters of the covariance function, which says how similar two problems are. */
typedef struct measure {
    /* For axes, then products of two axes: 1 / (doublings within which times change little). */
    double scales[LENGTHS];
    /* [axis][divisor]: factor on the similarity of two problems if the divisor divides only one. */
    double divided[PORTFOLIO_MOST_AXES][PORTFOLIO_MAX_DIVISORS];
    double noise; /* variance of the noise, relative to the variance of the times */
} measure;

/* The usual_ parameters are used if problems are few. They were chosen by cross-validation on
 * portfolios of five patterns. usual_divided is the product over all divisors of an axis. The lists
 * are the candidates of a fit. */
static const double usual_scale = 0.25, usual_divided = 0.7, usual_noise = 0.02;
static const double scales[] = {0, 0.06, 0.125, 0.25, 0.5, 1},
                    parts_left[] = {0.5, 0.7, 0.85, 0.95, 1},
                    noises[] = {0.01, 0.02, 0.05, 0.1, 0.2},
                    more_noises[] = {0.2, 0.4, 0.8, 1.6, 3.2};

/* A noise above the likeliest must save this share of the loss; a smaller saving may be chance. */
static const double clear_saving = 0.1;

/* The weight of the risk that the default is faster, relative to the time. */
static const double caution = 0.5;

/* A ratio above most_ratio counts as most_ratio. */
static const double most_ratio = 4;

/* `likeness` is the covariance matrix of all rows. The weights of a column are the solution of a
 * linear system: the matrix is `likeness` plus noise on its diagonal, over the rows where the
 * column was possible; the right side is the logarithms of the column's ratios minus their mean.
 * The prediction for a column is means[column] plus the sum of weights times similarities to the
 * rows. A column is `known` if it was possible somewhere. */
struct kriging {
    const portfolio_axis *axes;
    size_t axis_count;
    const value *problems;
    size_t rows, columns;
    measure by;
    double *likeness; /* lower triangle, of all rows */
    double *factor;   /* Cholesky factor of the covariance matrix with noise */
    double *weights;  /* weights of the rows for each column; 0 on impossible rows */
    double *scratch;  /* one number per row */
    double means[COLUMNS], spreads[COLUMNS];
    bool known[COLUMNS];
};

static measure usual_measure(const portfolio_axis *axes, size_t axis_count)
{
    measure by = {.noise = usual_noise};
    for (size_t i = 0; i < axis_count; i++) {
        by.scales[i] = axes[i].feature ? 0 : usual_scale;
        for (size_t d = 0; d < axes[i].divisor_count; d++)
            by.divided[i][d] = pow(usual_divided, 1.0 / (double)axes[i].divisor_count);
    }
    return by;
}

static double likeness_by(const measure *by, const portfolio_axis *axes, size_t axis_count,
                          const value *a, const value *b)
{
    double doublings[PORTFOLIO_MOST_AXES] = {0}, squares = 0, alike = 1;
    for (size_t i = 0; i < axis_count; i++) {
        if (axes[i].feature) {
            doublings[i] = log2((fabs(a[i].number) + 1) / (fabs(b[i].number) + 1));
            continue;
        }
        if (a[i].kind != VALUE_INTEGER || b[i].kind != VALUE_INTEGER) {
            if (!value_equal(a[i], b[i]))
                return 0;
            continue;
        }
        doublings[i] = log2((fabs((double)a[i].integer) + 1) / (fabs((double)b[i].integer) + 1));
        for (size_t d = 0; d < axes[i].divisor_count; d++)
            if ((a[i].integer % axes[i].divisors[d] == 0) !=
                (b[i].integer % axes[i].divisors[d] == 0))
                alike *= by->divided[i][d];
    }
    for (size_t i = 0, length = axis_count; i < axis_count; i++) {
        squares += pow(doublings[i] * by->scales[i], 2);
        for (size_t j = i + 1; j < axis_count && !axes[j].feature; j++, length++)
            squares += pow((doublings[i] + doublings[j]) * by->scales[length], 2);
    }
    double d = sqrt(3 * squares);
    return alike * (1 + d) * exp(-d);
}

static double ratio_at(const portfolio_matrix *m, size_t row, size_t column)
{
    return column == m->configuration_count ? m->defaults[row]
                                            : m->ratios[row * m->configuration_count + column];
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

static void factorise_rows(const kriging *k, const size_t *rows, size_t count, double *factor)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            factor[i * count + j] =
                k->likeness[rows[i] * k->rows + rows[j]] + (i == j ? k->by.noise : 0);
    cholesky_factor(factor, count, 1e-12);
}

/* Writes the logarithms of a column's ratios, minus their mean, for the rows of `among` where the
 * configuration is possible. Returns their number. */
static size_t gather(const portfolio_matrix *m, size_t column, const size_t *among,
                     size_t among_count, size_t *rows, double *y, double *mean)
{
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < among_count; i++) {
        double ratio = ratio_at(m, among[i], column);
        if (!(ratio > 0))
            continue;
        y[count] = log(fmin(ratio / best_of(m, among[i]), most_ratio));
        sum += y[count];
        rows[count++] = among[i];
    }
    *mean = count ? sum / (double)count : 0;
    for (size_t i = 0; i < count; i++)
        y[i] -= *mean;
    return count;
}

typedef struct work {
    size_t *all, *rows, *before;
    double *factor;
} work;

static void compare_rows(kriging *k, const size_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++)
            k->likeness[rows[i] * k->rows + rows[j]] =
                likeness_by(&k->by, k->axes, k->axis_count, row_of(k, rows[i]), row_of(k, rows[j]));
}

static void learn(kriging *k, const portfolio_matrix *m, size_t column, const work *w)
{
    double squares = 0, *y = k->scratch;
    size_t count = gather(m, column, w->all, k->rows, w->rows, y, &k->means[column]);
    if (!(k->known[column] = count > 0))
        return;
    for (size_t i = 0; i < count; i++)
        squares += y[i] * y[i];
    k->spreads[column] = sqrt(squares / (double)count);
    if (count < k->rows)
        factorise_rows(k, w->rows, count, w->factor);
    const double *use = count < k->rows ? w->factor : k->factor;
    cholesky_solve_lower(use, count, y);
    cholesky_solve_upper(use, count, y);
    for (size_t i = 0; i < count; i++)
        k->weights[column * k->rows + w->rows[i]] = y[i];
}

static void learn_all(kriging *k, const portfolio_matrix *m, const work *w)
{
    compare_rows(k, w->all, k->rows);
    factorise_rows(k, w->all, k->rows, k->factor);
    for (size_t c = 0; c < k->columns; c++)
        learn(k, m, c, w);
}

/* ---- the measure ---- */

/* Returns the logarithm of the likelihood of the times on some rows; each column has its own
 * likeliest variance (Rasmussen & Williams, equation 5.8). */
static double likelihood_of(kriging *k, const portfolio_matrix *m, const size_t *among,
                            size_t among_count, const work *w)
{
    double sum = 0, mean, logs = 0, *y = k->scratch;
    size_t before = 0;
    compare_rows(k, among, among_count);
    for (size_t c = 0; c < k->columns; c++) {
        size_t count = gather(m, c, among, among_count, w->rows, y, &mean);
        if (count != before || memcmp(w->rows, w->before, count * sizeof *w->rows) != 0) {
            factorise_rows(k, w->rows, count, w->factor);
            logs = cholesky_log_determinant(w->factor, count);
            memcpy(w->before, w->rows, count * sizeof *w->rows);
            before = count;
        }
        cholesky_solve_lower(w->factor, count, y);
        double squares = 0;
        for (size_t i = 0; i < count; i++)
            squares += y[i] * y[i];
        if (count)
            sum -= (double)count / 2 * log(fmax(squares / (double)count, 1e-12)) + logs;
    }
    return sum;
}

/* Sets *place, a parameter of the covariance, to the candidate that makes the times most likely. */
static void fit_one(kriging *k, const portfolio_matrix *m, const size_t *among, size_t among_count,
                    const work *w, double *place, const double *candidates, size_t candidate_count,
                    double *best)
{
    double kept = *place;
    for (size_t i = 0; i < candidate_count; i++) {
        *place = candidates[i];
        double likelihood = likelihood_of(k, m, among, among_count, w);
        if (likelihood > *best) {
            *best = likelihood;
            kept = candidates[i];
        }
    }
    *place = kept;
}

/* Fits one parameter after the other, on at most FIT_ROWS rows that are spread over all rows. */
static void fit(kriging *k, const portfolio_matrix *m, const work *w, size_t *among)
{
    size_t step = 1 + (k->rows - 1) / FIT_ROWS, count = 0, variables = 0;
    while (variables < k->axis_count && !k->axes[variables].feature)
        variables++;
    size_t lengths = k->axis_count + variables * (variables - 1) / 2;
    for (size_t row = 0; row < k->rows; row += step)
        among[count++] = row;
    double best = likelihood_of(k, m, among, count, w);
    for (int round = 0; round < FIT_ROUNDS; round++) {
        for (size_t i = lengths; i-- > 0;)
            fit_one(k, m, among, count, w, &k->by.scales[i], scales, sizeof scales / sizeof *scales,
                    &best);
        for (size_t i = 0; i < k->axis_count; i++)
            for (size_t d = 0; d < k->axes[i].divisor_count; d++)
                fit_one(k, m, among, count, w, &k->by.divided[i][d], parts_left,
                        sizeof parts_left / sizeof *parts_left, &best);
        fit_one(k, m, among, count, w, &k->by.noise, noises, sizeof noises / sizeof *noises, &best);
    }
}

/* Learns with the parameters `by`; if NULL, with the usual parameters, fitted if `fits`. */
static kriging *new_by(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                       const value *problems, const measure *by, bool fits);

typedef struct some_rows {
    portfolio_matrix m;
    double *ratios, *defaults;
    value *problems;
} some_rows;

static void add_row(some_rows *s, const portfolio_matrix *from, const value *problem,
                    size_t axis_count, size_t row)
{
    size_t width = from->configuration_count, at = s->m.problem_count++;
    memcpy(&s->ratios[at * width], &from->ratios[row * width], width * sizeof *s->ratios);
    memcpy(&s->problems[at * axis_count], problem, axis_count * sizeof *s->problems);
    s->defaults[at] = from->defaults[row];
}

/* Returns the loss on a row if the configuration that is expected to be best is used. */
static double loss_on(const kriging *k, const portfolio_matrix *m, size_t row, const value *problem)
{
    double expected[COLUMNS], least = INFINITY, ratio = 0;
    kriging_expect(k, problem, expected);
    for (size_t c = 0; c < k->columns; c++)
        if (ratio_at(m, row, c) > 0 && expected[c] > 0 && expected[c] < least) {
            least = expected[c];
            ratio = ratio_at(m, row, c);
        }
    return ratio > 0 ? fmin(ratio / best_of(m, row), most_ratio) - 1 : 0;
}

/* Sums loss_on() over the rows `among`, each part predicted from the others. `s` is scratch. */
static double cross_validate(const kriging *k, const portfolio_matrix *m, const measure *by,
                             const size_t *among, size_t count, some_rows *s)
{
    double loss = 0;
    for (size_t part = 0; part < NOISE_PARTS; part++) {
        s->m.problem_count = 0;
        for (size_t i = 0; i < count; i++)
            if (i % NOISE_PARTS != part)
                add_row(s, m, row_of(k, among[i]), k->axis_count, among[i]);
        kriging *of_others = new_by(&s->m, k->axes, k->axis_count, s->problems, by, false);
        for (size_t i = part; i < count; i += NOISE_PARTS)
            loss += loss_on(of_others, m, among[i], row_of(k, among[i]));
        kriging_free(of_others);
    }
    return loss;
}

/* Raises the noise if that clearly lowers the loss in cross-validation. With the likeliest noise,
 * the predictions may choose badly. */
static void fit_noise(kriging *k, const portfolio_matrix *m, size_t *among)
{
    size_t step = 1 + (k->rows - 1) / NOISE_ROWS, count = 0;
    for (size_t row = 0; row < k->rows; row += step)
        among[count++] = row;
    some_rows s = {.ratios = memory_new(count * m->configuration_count, sizeof *s.ratios),
                   .defaults = memory_new(count, sizeof *s.defaults),
                   .problems = memory_new(count * k->axis_count, sizeof *s.problems)};
    s.m = (portfolio_matrix){0, m->configuration_count, s.ratios, s.defaults};
    measure by = k->by;
    double least = (1 - clear_saving) * cross_validate(k, m, &by, among, count, &s);
    for (size_t i = 0; i < sizeof more_noises / sizeof *more_noises; i++) {
        by.noise = more_noises[i];
        if (by.noise <= k->by.noise)
            continue;
        double loss = cross_validate(k, m, &by, among, count, &s);
        if (loss < least) {
            least = loss;
            k->by.noise = by.noise;
        }
    }
    free(s.ratios);
    free(s.defaults);
    free(s.problems);
}

static kriging *new_by(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                       const value *problems, const measure *by, bool fits)
{
    size_t n = m->problem_count, columns = m->configuration_count + 1;
    kriging *k = memory_new(1, sizeof *k);
    size_t *indices = memory_new(4 * n, sizeof *indices);
    work w = {.all = indices, .factor = memory_new(n * n, sizeof *w.factor)};
    *k = (kriging){.axes = axes,
                   .axis_count = axis_count,
                   .problems = problems,
                   .rows = n,
                   .columns = columns,
                   .by = by ? *by : usual_measure(axes, axis_count),
                   .likeness = memory_new(n * n, sizeof *k->likeness),
                   .factor = memory_new(n * n, sizeof *k->factor),
                   .weights = memory_new(n * columns, sizeof *k->weights),
                   .scratch = memory_new(n, sizeof *k->scratch)};
    for (size_t i = 0; i < n; i++)
        w.all[i] = i;
    w.rows = indices + n;
    w.before = indices + 2 * n;
    if (fits && n >= LEAST_FIT_ROWS) {
        fit(k, m, &w, indices + 3 * n);
        fit_noise(k, m, indices + 3 * n);
    }
    learn_all(k, m, &w);
    free(indices);
    free(w.factor);
    return k;
}

kriging *kriging_new(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                     const value *problems, bool fits)
{
    return new_by(m, axes, axis_count, problems, NULL, fits);
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
        double likeness = likeness_by(&k->by, k->axes, k->axis_count, row_of(k, row), problem);
        for (size_t c = 0; c < k->columns; c++)
            logs[c] += likeness * k->weights[c * k->rows + row];
    }
    for (size_t c = 0; c < k->columns; c++)
        ratios[c] = k->known[c] ? exp(logs[c]) : 0;
}

/* Returns the remaining variance on a problem: 0 if it was timed, 1 far from all timed problems. */
static double doubt_of(const kriging *k, const value *problem)
{
    double known = 0, *x = k->scratch;
    for (size_t row = 0; row < k->rows; row++)
        x[row] = likeness_by(&k->by, k->axes, k->axis_count, row_of(k, row), problem);
    cholesky_solve_lower(k->factor, k->rows, x);
    for (size_t row = 0; row < k->rows; row++)
        known += x[row] * x[row];
    return fmax(0, fmin(1, 1 - known));
}

/* Returns the expected improvement (Jones, Schonlau & Welch, 1998) of a configuration that is
 * expected to be slower by `behind`, if the difference has the standard deviation `off`. */
static double mean_gain(double behind, double off)
{
    double z = behind / off;
    return off * (exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846) - z * erfc(z / sqrt(2)) / 2);
}

void kriging_add_risk(const kriging *k, const value *problem, double *ratios)
{
    size_t last = k->columns - 1;
    /* The noise of the samples does not add to the uncertainty about the problem. */
    double doubt = sqrt(fmax(0, doubt_of(k, problem) - k->by.noise));
    for (size_t c = 0; c < last && ratios[last] > 0; c++) {
        double off = doubt * hypot(k->spreads[c], k->spreads[last]);
        if (ratios[c] > 0 && off > 0)
            ratios[c] += caution * ratios[last] * mean_gain(log(ratios[last] / ratios[c]), off);
    }
}
