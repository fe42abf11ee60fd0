#include "search/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "search/regression/gp.h"

/* At half of a parameter's range the weight is 1/12; between neighbours of ten values it is 0.9. */
static const double sharpness = 10;

void feasibility_init(feasibility *f, encoding *e, size_t most)
{
    *f = (feasibility){.encoding = e,
                       .works = memory_new(most, sizeof *f->works),
                       .breaks = memory_new(most, sizeof *f->breaks)};
}

void feasibility_deinit(feasibility *f)
{
    free(f->works);
    free(f->breaks);
    *f = (feasibility){0};
}

static void count_outcome(feasibility *f, const ledger_trial *t)
{
    float *weights = isfinite(t->cost) ? f->works : f->breaks;
    size_t features = f->encoding->features;
    float point[GP_MAX_FEATURES];
    encoding_point(f->encoding, t->configuration, point);
    for (size_t c = 0; c < f->candidate_count; c++) {
        double d = encoding_distance(f->encoding, point, f->candidates + c * features);
        weights[c] += (float)exp(-sharpness * d);
    }
}

static void count_all(feasibility *f, const ledger *l)
{
    for (size_t i = 0; i < l->trial_count; i++)
        if (!isnan(l->trials[i].cost))
            count_outcome(f, &l->trials[i]);
}

void feasibility_reset(feasibility *f, const float *candidates, size_t count, const ledger *l)
{
    f->candidates = candidates;
    f->candidate_count = count;
    memset(f->works, 0, count * sizeof *f->works);
    memset(f->breaks, 0, count * sizeof *f->breaks);
    if (f->any_broken)
        count_all(f, l);
}

void feasibility_learn(feasibility *f, const ledger *l, size_t trial)
{
    if (f->any_broken) {
        count_outcome(f, &l->trials[trial]);
    } else if (!isfinite(l->trials[trial].cost)) {
        f->any_broken = true;
        count_all(f, l);
    }
}

double feasibility_chance(const feasibility *f, size_t candidate)
{
    if (!f->any_broken)
        return 1;
    double works = (double)f->works[candidate] + 1;
    return works / (works + (double)f->breaks[candidate]);
}

/* POOL_LIMIT bounds the model's memory and time, which grow with the pool. Most spaces are smaller.
 */
enum { POOL_LIMIT = 8192, ELITE = 8 };

void pool_init(pool *p, const ledger *l, const encoding *e)
{
    size_t most = l->space_count < POOL_LIMIT ? (size_t)l->space_count : POOL_LIMIT;
    *p = (pool){.most = most};
    p->configurations = memory_new(most, sizeof *p->configurations);
    p->points = memory_new(most * e->features, sizeof *p->points);
    p->least = memory_new(most, sizeof *p->least);
}

void pool_deinit(pool *p)
{
    free(p->configurations);
    free(p->points);
    free(p->least);
    *p = (pool){0};
}

static void add_neighbours(pool *p, const ledger *l)
{
    size_t elite[ELITE], count = ledger_elite(l, elite, ELITE);
    for (size_t i = 0; i < count; i++)
        p->count += space_neighbours(l->space, l->trials[elite[i]].configuration,
                                     p->configurations + p->count, p->most / 2 - p->count);
}

static void drop_repeated(pool *p)
{
    qsort(p->configurations, p->count, sizeof *p->configurations, ascending_u64);
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++)
        if (i == 0 || p->configurations[i] != p->configurations[i - 1])
            p->configurations[kept++] = p->configurations[i];
    p->count = kept;
}

void pool_fill(pool *p, ledger *l, encoding *e)
{
    p->count = 0;
    if (p->most == l->space_count) {
        for (; p->count < p->most; p->count++)
            p->configurations[p->count] = p->count;
    } else {
        add_neighbours(p, l);
        while (p->count < p->most)
            p->configurations[p->count++] = rng_below(&l->rng, l->space_count);
        drop_repeated(p);
    }
    for (size_t i = 0; i < p->count; i++) {
        encoding_point(e, p->configurations[i], p->points + i * e->features);
        p->least[i] = (uint8_t)encoding_least(e, p->configurations[i]);
    }
}
