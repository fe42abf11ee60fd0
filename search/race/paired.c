#include "search/race/paired.h"

#include <math.h>

#include "base/stats.h"

/* Source: Yuen 1974. Trimming a tenth removes outliers, which a shared host causes in 2 % of
 * samples. */
static const double trimmed_share = 0.1;

paired paired_compare(const int64_t *a, const int64_t *b, size_t blocks, int64_t tick_ns,
                      double *scratch)
{
    for (size_t i = 0; i < blocks; i++)
        scratch[i] = log((double)a[i] / (double)b[i]);
    paired p = {0};
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

size_t balance_rows(size_t items)
{
    if (items < 2)
        return 1;
    return items % 2 ? 2 * items : items;
}

void balance_row(size_t items, size_t row, uint32_t *order)
{
    row %= balance_rows(items);
    size_t shift = row % (items ? items : 1);
    /* Rows are shifts of the zigzag 0, 1, n-1, 2, n-2, ...; for odd n their mirror images, too. */
    int mirrored = row >= items;
    for (size_t i = 0; i < items; i++) {
        size_t zigzag = i % 2 ? (i + 1) / 2 : (items - i / 2) % items;
        order[mirrored ? items - 1 - i : i] = (uint32_t)((zigzag + shift) % items);
    }
}
