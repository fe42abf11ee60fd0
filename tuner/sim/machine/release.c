#include "sim/machine/release.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

static size_t home(const sim_releases *r, uint64_t at)
{
    return (size_t)((at * UINT64_C(0x9e3779b97f4a7c15)) >> 24) & (r->capacity - 1);
}

static size_t place_of(const sim_releases *r, uint64_t at)
{
    size_t i = home(r, at);
    while (r->places[i].at != 0 && r->places[i].at != at)
        i = (i + 1) & (r->capacity - 1);
    return i;
}

sim_release *sim_releases_find(const sim_releases *r, uint64_t at)
{
    if (r->count == 0)
        return NULL;
    sim_release *found = &r->places[place_of(r, at)];
    return found->at ? found : NULL;
}

static bool grow(sim_releases *r)
{
    sim_releases grown = {.count = r->count,
                          .capacity = r->capacity ? 2 * r->capacity : FIRST_CAPACITY};
    grown.places = calloc(grown.capacity, sizeof *grown.places);
    if (!grown.places)
        return false;
    for (size_t i = 0; i < r->capacity; i++)
        if (r->places[i].at)
            grown.places[place_of(&grown, r->places[i].at)] = r->places[i];
    free(r->places);
    *r = grown;
    return true;
}

sim_release *sim_releases_put(sim_releases *r, uint64_t at)
{
    if (2 * r->count >= r->capacity && !grow(r))
        return NULL;
    sim_release *place = &r->places[place_of(r, at)];
    if (place->at == 0) {
        *place = (sim_release){.at = at};
        r->count++;
    }
    return place;
}

static void drop(sim_release *place)
{
    for (int i = 0; i < SIM_REACHES; i++)
        sim_clock_drop(place->clocks[i]);
    *place = (sim_release){0};
}

void sim_releases_remove(sim_releases *r, uint64_t at)
{
    sim_release *found = sim_releases_find(r, at);
    if (!found)
        return;
    size_t hole = (size_t)(found - r->places);
    drop(found);
    r->count--;
    /* The entries that had to go past the place move up. */
    for (size_t i = (hole + 1) & (r->capacity - 1); r->places[i].at;
         i = (i + 1) & (r->capacity - 1)) {
        size_t from_home = (i - home(r, r->places[i].at)) & (r->capacity - 1);
        if (from_home < ((i - hole) & (r->capacity - 1)))
            continue;
        r->places[hole] = r->places[i];
        r->places[i] = (sim_release){0};
        hole = i;
    }
}

void sim_releases_clear(sim_releases *r)
{
    for (size_t i = 0; r->count > 0 && i < r->capacity; i++)
        if (r->places[i].at)
            drop(&r->places[i]);
    r->count = 0;
}

void sim_releases_deinit(sim_releases *r)
{
    sim_releases_clear(r);
    free(r->places);
    *r = (sim_releases){0};
}
