#include "portfolio/shortlist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "portfolio/cover.h"

/* Problems' worth of the mean of all in the mean of a configuration. */
static const double drawn = 4;

/* A greater loss counts as this: no reader is given such a configuration. */
static const double most_loss = 1;

/* A problem counts its loss with the best that is listed, a quarter of its loss with the next one,
 * and so on: the next one stands in where the best is not as good as it seems. */
enum { DEPTH = 3 };
static const double next_counts = 0.25;

static double *row_of(double *losses, const portfolio_matrix *m, size_t problem)
{
    return &losses[problem * m->configuration_count];
}

/* The losses that are known; NAN: it is not known, INFINITY: it is impossible. Returns their
 * mean. */
static double known_losses(const portfolio_matrix *m, double *losses)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < m->problem_count * m->configuration_count; i++) {
        losses[i] = m->ratios[i] > 0   ? fmin(m->ratios[i] - 1, most_loss)
                    : m->ratios[i] < 0 ? NAN
                                       : INFINITY;
        if (m->ratios[i] > 0) {
            sum += losses[i];
            known++;
        }
    }
    return known ? sum / (double)known : 0;
}

/* Replaces what is not known of a configuration; false: it is possible nowhere. */
static bool complete(const portfolio_matrix *m, double *losses, size_t configuration,
                     double mean_of_all)
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
    return possible > 0;
}

/* Puts a loss in its place among those of a problem with the best that are listed; what these then
 * count. */
static double put(double *least, double loss)
{
    double sum = 0, counts = 1;
    for (size_t i = 0; i < DEPTH; i++, counts *= next_counts) {
        double kept = least[i];
        least[i] = fmin(kept, loss);
        loss = fmax(kept, loss);
        sum += counts * least[i];
    }
    return sum;
}

/* The loss of all problems with one more configuration. `least` has the loss of each with the best
 * of those that are listed, with the next one ... */
static double loss_with(const portfolio_matrix *m, double *losses, const double *least,
                        size_t configuration)
{
    double sum = 0, with[DEPTH];
    for (size_t p = 0; p < m->problem_count; p++) {
        memcpy(with, &least[p * DEPTH], sizeof with);
        sum += put(with, row_of(losses, m, p)[configuration]);
    }
    return sum;
}

size_t portfolio_shortlist(const portfolio_matrix *m, size_t most, size_t *list)
{
    size_t problems = m->problem_count, width = m->configuration_count, count = 0;
    double *losses = memory_new(problems * width, sizeof *losses),
           *least = memory_new(problems * DEPTH, sizeof *least);
    bool *possible = memory_new(width, sizeof *possible);
    double mean_of_all = known_losses(m, losses);
    for (size_t c = 0; c < width; c++)
        possible[c] = complete(m, losses, c, mean_of_all);
    for (size_t i = 0; i < problems * DEPTH; i++) {
        double fallback = m->defaults[i / DEPTH];
        least[i] = fallback > 0 ? fmin(fallback - 1, most_loss) : most_loss;
    }
    while (count < most) {
        size_t best = width;
        double lowest = INFINITY;
        for (size_t c = 0; c < width; c++) {
            if (!possible[c] || portfolio_contains(list, count, c))
                continue;
            double loss = loss_with(m, losses, least, c);
            if (loss < lowest) {
                lowest = loss;
                best = c;
            }
        }
        if (best == width)
            break;
        list[count++] = best;
        for (size_t p = 0; p < problems; p++)
            put(&least[p * DEPTH], row_of(losses, m, p)[best]);
    }
    free(losses);
    free(least);
    free(possible);
    return count;
}
