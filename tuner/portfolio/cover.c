#include "portfolio/cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Sets that are looked at one by one. */
static const double exact_sets = 20000;

bool portfolio_contains(const size_t *list, size_t count, size_t configuration)
{
    size_t i = 0;
    while (i < count && list[i] != configuration)
        i++;
    return i < count;
}

/* The loss of a configuration on a problem; infinite where it does not serve it. */
static double loss_with(const portfolio_matrix *m, size_t problem, size_t configuration)
{
    return portfolio_serves(m, problem, configuration)
               ? m->ratios[problem * m->configuration_count + configuration] - 1
               : INFINITY;
}

double portfolio_loss_of(const portfolio_matrix *m, size_t problem, const size_t *chosen,
                         size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        least = fmin(least, loss_with(m, problem, chosen[i]));
    if (isfinite(least))
        return least;
    return m->defaults[problem] > 0 ? m->defaults[problem] - 1 : PORTFOLIO_UNCOVERED;
}

static double mean_loss(const portfolio_matrix *m, const size_t *chosen, size_t count)
{
    double sum = 0;
    for (size_t p = 0; p < m->problem_count; p++)
        sum += portfolio_loss_of(m, p, chosen, count);
    return m->problem_count ? sum / (double)m->problem_count : 0;
}

static double set_count(size_t n, size_t k)
{
    double sets = 1;
    for (size_t i = 0; i < k; i++)
        sets *= (double)(n - i) / (double)(i + 1);
    return sets;
}

/* Tries all sets of `count`, in order. */
static double choose_exactly(const portfolio_matrix *m, size_t count, size_t *scratch, size_t *best)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        scratch[i] = i;
    for (;;) {
        double loss = mean_loss(m, scratch, count);
        if (loss < least) {
            least = loss;
            memcpy(best, scratch, count * sizeof *best);
        }
        size_t i = count;
        while (i > 0 && scratch[i - 1] == m->configuration_count - count + i - 1)
            i--;
        if (i == 0)
            return least;
        scratch[i - 1]++;
        for (; i < count; i++)
            scratch[i] = scratch[i - 1] + 1;
    }
}

/* Puts the configuration that helps most into place `at` of `chosen`; the loss then. */
static double fill_place(const portfolio_matrix *m, size_t *chosen, size_t count, size_t at,
                         double loss)
{
    size_t best = chosen[at];
    for (size_t c = 0; c < m->configuration_count; c++) {
        if (portfolio_contains(chosen, count, c))
            continue;
        size_t was = chosen[at];
        chosen[at] = c;
        double now = mean_loss(m, chosen, count);
        chosen[at] = was;
        if (now < loss - 1e-12) {
            loss = now;
            best = c;
        }
    }
    chosen[at] = best;
    return loss;
}

/* Extends the best set of one less, then exchanges. */
static double choose_greedily(const portfolio_matrix *m, size_t count, size_t *chosen)
{
    size_t first = 0;
    while (portfolio_contains(chosen, count - 1, first))
        first++;
    chosen[count - 1] = first;
    double loss = fill_place(m, chosen, count, count - 1, mean_loss(m, chosen, count));
    for (bool better = true; better;) {
        better = false;
        for (size_t at = 0; at < count; at++) {
            double now = fill_place(m, chosen, count, at, loss);
            better = better || now < loss;
            loss = now;
        }
    }
    return loss;
}

size_t portfolio_cover(const portfolio_matrix *m, size_t most, double least_gain, size_t *chosen,
                       double *loss)
{
    size_t count = 0, *trial = memory_new(2 * most, sizeof *trial);
    *loss = mean_loss(m, NULL, 0);
    for (size_t k = 1; k <= most && k <= m->configuration_count; k++) {
        double now = set_count(m->configuration_count, k) <= exact_sets
                         ? choose_exactly(m, k, trial + most, trial)
                         : choose_greedily(m, k, trial);
        /* A size that does not pay may lead to one that does. */
        if (k > 1 && *loss - now < least_gain * (double)(k - count))
            continue;
        *loss = now;
        count = k;
        memcpy(chosen, trial, k * sizeof *chosen);
    }
    free(trial);
    return count;
}
