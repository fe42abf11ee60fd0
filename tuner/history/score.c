#include "history/replay.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/memory.h"

static const double way_of_budget = 0.95;

at_status score_space_init(score_space *s, const double *costs, size_t count, at_error *error)
{
    *s = (score_space){.count = count};
    s->costs = memory_new(count, sizeof *s->costs);
    for (size_t i = 0; i < count; i++)
        if (isfinite(costs[i]))
            s->costs[s->works++] = costs[i];
    if (s->works == 0) {
        score_space_deinit(s);
        return error_set(error, AT_NOT_FOUND, "none of the %zu configurations works", count);
    }
    qsort(s->costs, s->works, sizeof *s->costs, ascending_double);
    return AT_OK;
}

void score_space_deinit(score_space *s)
{
    free(s->costs);
    *s = (score_space){0};
}

double score_optimum(const score_space *s)
{
    return s->costs[0];
}

double score_worst(const score_space *s)
{
    return s->costs[s->works - 1];
}

double score_median(const score_space *s)
{
    size_t half = s->works / 2;
    return s->works % 2 ? s->costs[half] : (s->costs[half - 1] + s->costs[half]) / 2;
}

/* Returns the expected lowest cost of m, or its share optimum / cost; `nothing` if all failed. */
static double expect(const score_space *s, uint64_t m, bool as_share, double nothing)
{
    double n = (double)s->count, draws = (double)(m < s->count ? m : s->count);
    /* P(best has rank i) follows from P(rank i - 1); ranks begin at 0. */
    double probability = draws / n, sum = 0, left = 1;
    for (size_t i = 0; i < s->works && probability > 0; i++) {
        sum += probability * (as_share ? s->costs[0] / s->costs[i] : s->costs[i]);
        left -= probability;
        double others = n - 1 - (double)i;
        probability *= others > 0 ? (others - draws + 1) / others : 0;
    }
    return sum + (left > 0 ? left : 0) * nothing;
}

double score_random_cost(const score_space *s, uint64_t m)
{
    return expect(s, m, false, score_worst(s));
}

double score_random_share(const score_space *s, uint64_t m)
{
    return expect(s, m, true, 0);
}

double score_rank_cost(const score_space *s, uint64_t m)
{
    double n = (double)s->count, draws = (double)(m < s->count ? m : s->count);
    double from_worst = round(draws * (n + 1) / (draws + 1));
    double rank = n - from_worst;
    return rank < (double)s->works ? s->costs[(size_t)(rank > 0 ? rank : 0)] : score_worst(s);
}

uint64_t score_budget(const score_space *s)
{
    double median = score_median(s);
    double target = median - way_of_budget * (median - score_optimum(s));
    uint64_t low = 1, high = s->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (score_random_cost(s, middle) <= target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double score_curve(const score_space *s, const double *baseline, const double *found, size_t points)
{
    double sum = 0, optimum = score_optimum(s);
    size_t count = 0;
    for (size_t i = 0; i < points; i++) {
        double room = baseline[i] - optimum;
        if (room <= 1e-12 * optimum)
            continue;
        sum += (baseline[i] - found[i]) / room;
        count++;
    }
    return count ? sum / (double)count : 0;
}
