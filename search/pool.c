#include "search/pool.h"

#include <stdlib.h>

#include "base/ascending.h"
#include "base/memory.h"

/* Large enough to hold most spaces whole; a model's memory and time grow with it. */
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

static void add_neighbours(pool *p, moves *m)
{
    const ledger *l = m->ledger;
    size_t elite[ELITE], count = ledger_elite(l, elite, ELITE);
    for (size_t i = 0; i < count; i++) {
        size_t found =
            space_neighbours(l->space, l->trials[elite[i]].configuration, m->near, m->near_limit);
        for (size_t j = 0; j < found && p->count < p->most / 2; j++)
            p->configurations[p->count++] = m->near[j];
    }
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

void pool_fill(pool *p, moves *m, encoding *e)
{
    ledger *l = m->ledger;
    p->count = 0;
    if (p->most == l->space_count) {
        for (; p->count < p->most; p->count++)
            p->configurations[p->count] = p->count;
    } else {
        add_neighbours(p, m);
        while (p->count < p->most)
            p->configurations[p->count++] = rng_below(&l->rng, l->space_count);
        drop_repeated(p);
    }
    for (size_t i = 0; i < p->count; i++) {
        encoding_point(e, p->configurations[i], p->points + i * e->features);
        p->least[i] = (uint8_t)encoding_least(e, p->configurations[i]);
    }
}
