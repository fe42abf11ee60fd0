#include "search/regression/cost_scale.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"

static const double rank_part = 0.5;

void cost_scale_deinit(cost_scale *s)
{
    free(s->logarithms);
    free(s->scores);
    *s = (cost_scale){0};
}

/* Normal quantile, by bisection: it is asked for a few hundred times a run. */
static double normal_quantile(double probability)
{
    double low = -8, high = 8;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle * M_SQRT1_2) < probability)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double deviation(const double *x, size_t count, double *mean)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += x[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - sum) * (x[i] - sum) / (double)count;
    *mean = sum;
    return sqrt(squares);
}

/* How far beyond the best a cost that is better still lies: at the mean slope of the best
 * quarter. */
static double slope_of(const cost_scale *s)
{
    size_t quarter = s->count > 8 ? s->count / 4 : s->count - 1;
    return quarter
               ? (s->scores[quarter] - s->scores[0]) / (s->logarithms[quarter] - s->logarithms[0])
               : 1;
}

void cost_scale_set(cost_scale *s, const double *costs, size_t count)
{
    cost_scale made = {.logarithms = memory_new(count, sizeof *made.logarithms),
                       .scores = memory_new(count, sizeof *made.scores)};
    double *x = made.logarithms, mean;
    for (size_t i = 0; i < count; i++)
        x[i] = log(costs[i]);
    qsort(x, count, sizeof *x, ascending_double);
    double spread = deviation(x, count, &mean);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;
        while (end < count && x[end] - x[i] < 1e-9)
            end++;
        double rank = (double)(i + end) / 2 / (double)count;
        double ratio = spread > 1e-9 ? (x[i] - mean) / spread : 0;
        made.scores[made.count] = rank_part * normal_quantile(rank) + (1 - rank_part) * ratio;
        x[made.count++] = x[i];
        i = end;
    }
    made.slope = slope_of(&made);
    cost_scale_deinit(s);
    *s = made;
}

double cost_scale_score(const cost_scale *s, double cost)
{
    double x = log(cost);
    if (x <= s->logarithms[0])
        return s->scores[0] + s->slope * (x - s->logarithms[0]);
    if (x >= s->logarithms[s->count - 1])
        return s->scores[s->count - 1];
    size_t low = 0, high = s->count - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->logarithms[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double part = (x - s->logarithms[low]) / (s->logarithms[high] - s->logarithms[low]);
    return s->scores[low] + part * (s->scores[high] - s->scores[low]);
}
