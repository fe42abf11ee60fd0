#include "search/race/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/race/paired.h"

const int64_t *race_heats(const race *r, uint32_t entrant)
{
    return r->heats + entrant * r->heats_capacity;
}

const int64_t *race_finals(const race *r, uint32_t entrant)
{
    return r->finals + r->contenders[entrant].slot * r->finals_capacity;
}

static int compare_keys(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->entrant > y->entrant) - (x->entrant < y->entrant);
}

void race_sort(keyed *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, compare_keys);
}

static stats_summary summarise(race *r, const int64_t *series, size_t count)
{
    memcpy(r->sorted, series, count * sizeof *series);
    return stats_summarise(r->sorted, count);
}

double race_heats_median(race *r, uint32_t entrant, size_t blocks, double *highest)
{
    double median = (double)summarise(r, race_heats(r, entrant), blocks).median_ns;
    *highest = (double)r->sorted[blocks - 1];
    return median;
}

uint32_t race_leader(race *r, const int64_t *(*series)(const race *, uint32_t),
                     const uint32_t *entrants, size_t count, size_t blocks)
{
    uint32_t leader = entrants[0];
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t median = summarise(r, series(r, entrants[i]), blocks).median_ns;
        if (median < lowest) {
            lowest = median;
            leader = entrants[i];
        }
    }
    return leader;
}

/* An entrant's samples: of the finals if it took part in them, else of screen and heats, in the
 * order of their blocks. */
static const int64_t *samples_of(const race *r, uint32_t entrant, size_t *count)
{
    const contender *c = &r->contenders[entrant];
    if (c->left_at == RACE_FINALS && r->finals_blocks > 0 && !c->failed) {
        *count = c->retired ? c->retired : r->finals_blocks;
        return race_finals(r, entrant);
    }
    *count = c->heats;
    return race_heats(r, entrant);
}

stats_summary race_time_of(race *r, uint32_t entrant)
{
    size_t count;
    const int64_t *samples = samples_of(r, entrant, &count);
    stats_summary s = summarise(r, samples, count);
    if (count == 0)
        s.median_ns = r->contenders[entrant].given.fastest_ns;
    return s;
}

size_t race_shared_heats(const race *r, uint32_t a, uint32_t b)
{
    size_t x = r->contenders[a].heats, y = r->contenders[b].heats;
    return x < y ? x : y;
}

double race_estimate(race *r, uint32_t a, uint32_t b)
{
    const contender *x = &r->contenders[a], *y = &r->contenders[b];
    size_t blocks = race_shared_heats(r, a, b);
    if (blocks > 0)
        return exp(paired_compare(race_heats(r, a), race_heats(r, b), blocks, 0, r->ratios).mean);
    if (x->given.fastest_ns > 0 && y->given.fastest_ns > 0)
        return (double)x->given.fastest_ns / (double)y->given.fastest_ns;
    double top = (double)race_time_of(r, a).median_ns,
           bottom = (double)race_time_of(r, b).median_ns;
    return top > 0 && bottom > 0 ? top / bottom : INFINITY;
}
