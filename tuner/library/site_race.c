#include "library/site_race.h"

#include <stdlib.h>
#include <string.h>

/* The fastest part of a sample's calls counts, one call at least. Of eight streams that keep an
 * H100 busy each adds some tens of microseconds to any call: there the fastest eighth told more
 * than the fastest call, and than the mean. */
enum { FASTEST_PART = 8, MOST_KEPT = SITE_RACE_MOST_CALLS / FASTEST_PART };

bool site_race_reserve(site_race *r, size_t most)
{
    r->calls_each = 1;
    r->places = calloc(most, sizeof *r->places);
    r->slots = calloc(most, sizeof *r->slots);
    r->samples = calloc(most, sizeof *r->samples);
    r->fastest_ns = calloc(most, MOST_KEPT * sizeof *r->fastest_ns);
    return r->places && r->slots && r->samples && r->fastest_ns;
}

void site_race_release(site_race *r)
{
    race_free(r->race);
    free(r->places);
    free(r->slots);
    free(r->samples);
    free(r->fastest_ns);
    *r = (site_race){.races = r->races};
}

bool site_race_start(site_race *r, const race_options *options, const race_entrant *entrants,
                     size_t count)
{
    r->count = count;
    r->blocks = 0;
    r->races++;
    r->race = race_new(options, entrants, count);
    return r->race != NULL;
}

void site_race_stop(site_race *r)
{
    race_free(r->race);
    r->race = NULL;
}

bool site_race_draw(site_race *r)
{
    r->block_count = race_next(r->race, &r->block);
    site_race_begin_anew(r);
    return r->block_count > 0;
}

uint32_t site_race_entrant(const site_race *r, size_t place)
{
    return r->places[r->block[place]];
}

bool site_race_next(const site_race *r, size_t *place, bool *is_round)
{
    uint32_t most = 0;
    size_t next = 0;
    for (size_t i = 0; i < r->block_count; i++) {
        most = r->slots[i].begun > most ? r->slots[i].begun : most;
        if (r->slots[i].begun < r->slots[next].begun)
            next = i;
    }
    *place = next;
    *is_round = r->slots[next].begun == most;
    return r->slots[next].begun < r->calls_each;
}

void site_race_begin(site_race *r, size_t place)
{
    r->slots[place].begun++;
}

void site_race_reopen(site_race *r, size_t place)
{
    if (r->block_count)
        r->slots[place].begun--;
}

void site_race_begin_anew(site_race *r)
{
    r->block_told = 0;
    memset(r->slots, 0, r->block_count * sizeof *r->slots);
}

void site_race_exclude(site_race *r, size_t place_in_round)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->places[i] == place_in_round)
            race_exclude(r->race, i);
    r->block_count = 0;
}

static uint32_t kept_of(const site_race *r)
{
    return r->calls_each / FASTEST_PART ? r->calls_each / FASTEST_PART : 1;
}

/* Keeps the time in ascending order, of `count` so far, if it is one of the `most` fastest. */
static void keep_fastest(int64_t *kept_ns, uint32_t count, uint32_t most, int64_t time_ns)
{
    uint32_t at = count < most ? count : most;
    if (at == most && kept_ns[at - 1] <= time_ns)
        return;
    at -= at == most;
    for (; at > 0 && kept_ns[at - 1] > time_ns; at--)
        kept_ns[at] = kept_ns[at - 1];
    kept_ns[at] = time_ns;
}

static int64_t mean_of(const int64_t *times_ns, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += times_ns[i];
    return sum / count;
}

bool site_race_tell(site_race *r, size_t place, int64_t time_ns)
{
    site_slot *slot = &r->slots[place];
    int64_t *kept_ns = r->fastest_ns + place * MOST_KEPT;
    keep_fastest(kept_ns, slot->told++, kept_of(r), time_ns);
    if (slot->told < r->calls_each)
        return false;
    r->samples[place] = mean_of(kept_ns, kept_of(r));
    if (++r->block_told < r->block_count)
        return false;
    race_tell(r->race, r->samples);
    r->block_count = 0;
    r->blocks++;
    return true;
}
