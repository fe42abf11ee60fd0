#include "search/race/paired.h"

#include <math.h>

#include "base/stats.h"

/* Yuen 1974; a tenth drops the outliers of 2 % of samples that a shared host causes, and costs
 * little when there are none. */
static const double trimmed_share = 0.1;

paired paired_compare(const int64_t *a, const int64_t *b, size_t blocks, int64_t tick_ns,
                      double *scratch)
{
    for (size_t i = 0; i < blocks; i++)
        scratch[i] = log((double)a[i] / (double)b[i]);
    paired p = {.freedom = stats_trimmed_freedom(blocks, trimmed_share)};
    p.mean = stats_trimmed_mean(scratch, blocks, trimmed_share, &p.error);
    if (tick_ns > 0 && blocks > 0) {
        double tick = (double)tick_ns / (double)b[blocks / 2];
        if (p.error * sqrt((double)blocks) < tick)
            p.tick = tick;
    }
    return p;
}

double paired_quantile(double tail, size_t blocks)
{
    double freedom = stats_trimmed_freedom(blocks, trimmed_share);
    return freedom > 0 ? stats_t_quantile(tail, freedom) : 1;
}

double paired_half_width(const paired *p, double quantile)
{
    double half = quantile * p->error;
    return half > p->tick ? half : p->tick;
}
