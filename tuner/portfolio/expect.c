#include "portfolio/expect.h"

#include <string.h>

/* Doublings that are as good as no distance; how fast weights fall. */
static const double near = 0.5;

static double weight_of(double distance)
{
    double d = near + distance;
    return 1 / (d * d * d * d);
}

static double ratio_at(const portfolio_matrix *m, size_t problem, size_t column)
{
    return column == m->configuration_count ? m->defaults[problem]
                                            : m->ratios[problem * m->configuration_count + column];
}

void portfolio_expect(const portfolio_matrix *m, const portfolio_axis *axes, size_t axis_count,
                      const value *problems, size_t timed, double *expected)
{
    size_t columns = m->configuration_count + 1;
    memset(expected, 0, m->problem_count * columns * sizeof *expected);
    for (size_t p = 0; p < timed; p++)
        for (size_t c = 0; c < columns; c++) {
            double sum = 0, weights = 0;
            for (size_t q = 0; q < timed; q++) {
                if (q == p || !(ratio_at(m, q, c) > 0))
                    continue;
                double weight = weight_of(portfolio_distance(
                    axes, axis_count, &problems[p * axis_count], &problems[q * axis_count]));
                sum += weight * (ratio_at(m, q, c) - 1);
                weights += weight;
            }
            expected[p * columns + c] = weights > 0 ? sum / weights : PORTFOLIO_UNCOVERED;
        }
}
