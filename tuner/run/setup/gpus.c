#include "run/setup/gpus.h"

#include <math.h>

void gpus_init(gpus *g, const workers *w)
{
    *g = (gpus){.count = 1};
    g->items[0].worker = w->device;
    for (size_t i = 0; i < w->other_count; i++)
        g->items[g->count++].worker = w->others[i];
}

gpu *gpus_idlest(gpus *g, size_t most)
{
    gpu *found = NULL;
    for (size_t i = 0; i < g->count; i++) {
        gpu *one = &g->items[i];
        if (one->ready && !one->lost && one->trying < (found ? found->trying : most))
            found = one;
    }
    return found;
}

static bool is_described(const gpu *one, const workers *w)
{
    for (size_t i = 0; i < w->other_count; i++)
        if (w->others[i] == one->worker)
            return *w->other_properties[i].spec;
    return one->worker == w->device;
}

/* The first that is ready, else the first that is described. g->count: there is none. */
static size_t find_home(const gpus *g, const workers *w)
{
    size_t found = g->count;
    for (size_t i = 0; i < g->count; i++) {
        const gpu *one = &g->items[i];
        if (!one->lost && is_described(one, w) &&
            (found == g->count || (one->ready && !g->items[found].ready)))
            found = i;
    }
    return found;
}

bool gpus_lose(gpus *g, size_t lost, workers *w)
{
    g->items[lost].lost = true;
    g->items[lost].trying = 0;
    if (lost != g->home)
        return true;
    size_t next = find_home(g, w);
    if (next == g->count)
        return false;
    for (size_t i = 0; i < w->other_count; i++) {
        if (w->others[i] != g->items[next].worker)
            continue;
        device_properties taken = w->other_properties[i];
        w->others[i] = w->device;
        w->other_properties[i] = w->properties;
        w->device = g->items[next].worker;
        w->properties = taken;
    }
    g->home = next;
    return true;
}

double gpus_likely_ns(const gpus *g, size_t at, int64_t time_ns)
{
    const gpu *home = &g->items[g->home], *there = &g->items[at];
    bool known = at != g->home && home->ceiling_ns > 0 && there->ceiling_ns > 0;
    return (double)time_ns * (known ? (double)home->ceiling_ns / (double)there->ceiling_ns : 1);
}

int64_t gpus_prior_ns(const gpus *g, size_t at, int64_t time_ns)
{
    int64_t home_ns = g->items[g->home].best_ns, there_ns = g->items[at].best_ns;
    if (at == g->home || !home_ns || !there_ns)
        return time_ns;
    return (int64_t)llround((double)time_ns * (double)home_ns / (double)there_ns);
}

int gpus_restarts(const gpus *g)
{
    int sum = 0;
    for (size_t i = 0; i < g->count; i++)
        sum += g->items[i].restarts;
    return sum;
}
