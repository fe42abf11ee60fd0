#include "portfolio/cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool portfolio_contains(const size_t *list, size_t count, size_t configuration)
{
    size_t i = 0;
    while (i < count && list[i] != configuration)
        i++;
    return i < count;
}

/* Returns a configuration's loss on a problem, INFINITY if it does not serve the problem. */
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

/* Sets chosen[at] to the configuration that gives the least loss. Returns this loss. */
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

/* Adds a configuration to the best set of count - 1, then exchanges single configurations while
 * that helps. Returns the loss. */
static double choose_next(const portfolio_matrix *m, size_t count, size_t *chosen)
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
    size_t count = 0, *trial = memory_new(most, sizeof *trial);
    *loss = mean_loss(m, NULL, 0);
    for (size_t k = 1; k <= most && k <= m->configuration_count; k++) {
        double now = choose_next(m, k, trial);
        /* A larger set may still gain enough, so the loop goes on. */
        if (k > 1 && *loss - now < least_gain * (double)(k - count))
            continue;
        *loss = now;
        count = k;
        memcpy(chosen, trial, k * sizeof *chosen);
    }
    free(trial);
    return count;
}

/* ---- shortlists ---- */

/* The mean of all configurations has the weight of this many problems in a configuration's mean. */
static const double drawn = 4;

/* A greater loss counts as most_loss, because no reader gets a configuration so slow. */
static const double most_loss = 1;

/* A problem's loss is the loss with its best listed configuration, plus a quarter of the loss with
 * the next best, and so on. The next best count, because the best may be less good than it
 * seems. */
enum { DEPTH = 3 };
static const double next_counts = 0.25;

static double *row_of(double *losses, const portfolio_matrix *m, size_t problem)
{
    return &losses[problem * m->configuration_count];
}

/* Writes the losses: NAN if unknown, INFINITY if impossible. Returns the mean of known losses. */
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

/* Fills in the unknown losses of a configuration. Returns false if no problem allows it. */
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

/* Inserts a loss into a problem's least losses. Returns their weighted sum. */
static double insert_loss(double *least, double loss)
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

/* Returns the total loss with one more configuration. `least`: DEPTH least losses per problem. */
static double loss_of_list_with(const portfolio_matrix *m, double *losses, const double *least,
                                size_t configuration)
{
    double sum = 0, with[DEPTH];
    for (size_t p = 0; p < m->problem_count; p++) {
        memcpy(with, &least[p * DEPTH], sizeof with);
        sum += insert_loss(with, row_of(losses, m, p)[configuration]);
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
            double loss = loss_of_list_with(m, losses, least, c);
            if (loss < lowest) {
                lowest = loss;
                best = c;
            }
        }
        if (best == width)
            break;
        list[count++] = best;
        for (size_t p = 0; p < problems; p++)
            insert_loss(&least[p * DEPTH], row_of(losses, m, p)[best]);
    }
    free(losses);
    free(least);
    free(possible);
    return count;
}
