#include "portfolio/shortlist.h"

#include <math.h>
#include <stdlib.h>

#include "portfolio/cover.h"

/* Problems' worth of the mean of all in the mean of a configuration. */
static const double drawn = 4;

/* What loses more is as bad: nobody is given it. */
static const double most_loss = 1;

/* How much a configuration's own mean counts beside what it saves: where nothing is left to save, the best mean is next. */
static const double of_mean = 0.05;

static double *row_of(double *losses, const portfolio_matrix *m, size_t problem)
{
    return &losses[problem * m->configuration_count];
}

/* The losses that are known; NAN: it is not known, INFINITY: it is impossible. Returns their mean. */
static double known_losses(const portfolio_matrix *m, double *losses)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < m->problem_count * m->configuration_count; i++) {
        losses[i] = m->ratios[i] > 0 ? fmin(m->ratios[i] - 1, most_loss) : m->ratios[i] < 0 ? NAN : INFINITY;
        if (m->ratios[i] > 0) {
            sum += losses[i];
            known++;
        }
    }
    return known ? sum / (double)known : 0;
}

/* Replaces what is not known of a configuration; its mean where it is possible, INFINITY if that is nowhere. */
static double complete(const portfolio_matrix *m, double *losses, size_t configuration, double mean_of_all)
{
    double sum = mean_of_all * drawn, weight = drawn;
    size_t possible = 0;
    for (size_t p = 0; p < m->problem_count; p++) {
        double loss = row_of(losses, m, p)[configuration];
        possible += isnan(loss) || isfinite(loss);
        if (isfinite(loss)) {
            sum += loss;
            weight++;
        }
    }
    for (size_t p = 0; p < m->problem_count; p++)
        if (isnan(row_of(losses, m, p)[configuration]))
            row_of(losses, m, p)[configuration] = sum / weight;
    return possible ? sum / weight : INFINITY;
}

/* The sum of what the problems lose with one more; `least` is what each loses without it. */
static double loss_with(const portfolio_matrix *m, double *losses, const double *least, size_t configuration)
{
    double sum = 0;
    for (size_t p = 0; p < m->problem_count; p++)
        sum += fmin(least[p], row_of(losses, m, p)[configuration]);
    return sum;
}

at_status portfolio_shortlist(const portfolio_matrix *m, size_t most, size_t *list, size_t *count, at_error *error)
{
    size_t problems = m->problem_count, width = m->configuration_count;
    double *losses = calloc(problems * width + 1, sizeof *losses), *means = calloc(width + 1, sizeof *means),
           *least = calloc(problems + 1, sizeof *least);
    at_status status = losses && means && least
                           ? AT_OK
                           : error_set(error, AT_NO_MEMORY, "no memory to list some of %zu configurations", width);
    *count = 0;
    if (status)
        goto cleanup;
    double mean_of_all = known_losses(m, losses);
    for (size_t c = 0; c < width; c++)
        means[c] = complete(m, losses, c, mean_of_all);
    for (size_t p = 0; p < problems; p++)
        least[p] = m->defaults[p] > 0 ? fmin(m->defaults[p] - 1, most_loss) : most_loss;
    while (*count < most) {
        size_t best = width;
        double lowest = INFINITY;
        for (size_t c = 0; c < width; c++) {
            if (!isfinite(means[c]) || portfolio_contains(list, *count, c))
                continue;
            double loss = loss_with(m, losses, least, c) + of_mean * means[c] * (double)problems;
            if (loss < lowest) {
                lowest = loss;
                best = c;
            }
        }
        if (best == width)
            break;
        list[(*count)++] = best;
        for (size_t p = 0; p < problems; p++)
            least[p] = fmin(least[p], row_of(losses, m, p)[best]);
    }
cleanup:
    free(losses);
    free(means);
    free(least);
    return status;
}
