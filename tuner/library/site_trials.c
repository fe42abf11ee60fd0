#include "library/site_trials.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

uint64_t site_trials_open(site_open_trials *t, site_trial_kind kind, uint32_t place, uint64_t call)
{
    t->items[t->count++] =
        (site_trial){.ticket = ++t->tickets, .kind = kind, .place = place, .begun = call};
    return t->tickets;
}

size_t site_trials_count(const site_open_trials *t, site_trial_kind kind)
{
    size_t found = 0;
    for (size_t i = 0; i < t->count; i++)
        found += t->items[i].kind == kind;
    return found;
}

site_trial site_trials_close(site_open_trials *t, size_t i)
{
    site_trial closed = t->items[i];
    t->items[i] = t->items[--t->count];
    return closed;
}

void site_trials_forget(site_open_trials *t, site_trial_kind kind)
{
    for (size_t i = t->count; i-- > 0;)
        if (t->items[i].kind == kind)
            site_trials_close(t, i);
}

/* The mean of the incumbent's times is a moving average over about AVERAGED times. */
enum { AVERAGED = 16 };

/* Tuning uses this part of its share, because the incumbent's mean is not exactly known. */
#define SAFELY 0.9

site_budget site_budget_of(double share)
{
    return (site_budget){.share_ppm = (int64_t)(share * SAFELY * 1e6)};
}

void site_budget_forget(site_budget *b)
{
    b->recent_count = b->recent_next = 0;
}

bool site_budget_is_known(const site_budget *b)
{
    return b->recent_count >= SITE_BUDGET_KNOWN;
}

/* The mean includes outliers of the machine, because the times of trials include them. */
void site_budget_note(site_budget *b, int64_t time_ns)
{
    int64_t before = b->recent_count < SITE_BUDGET_KNOWN ? (int64_t)b->recent_count : AVERAGED - 1;
    b->mean_ns = (before * b->mean_ns + time_ns) / (before + 1);
    b->recent[b->recent_next] = time_ns;
    b->recent_next = (b->recent_next + 1) % SITE_BUDGET_RECENT;
    b->recent_count += b->recent_count < SITE_BUDGET_RECENT;
    int64_t sorted[SITE_BUDGET_RECENT];
    memcpy(sorted, b->recent, b->recent_count * sizeof *sorted);
    qsort(sorted, b->recent_count, sizeof *sorted, ascending_i64);
    b->typical_ns = sorted[b->recent_count / 2];
    b->low_ns = sorted[b->recent_count / 4];
    b->high_ns = sorted[(3 * b->recent_count - 1) / 4];
    if (site_budget_is_known(b)) {
        b->seen_ns += (int64_t)b->uncounted * b->low_ns;
        b->uncounted = 0;
    }
}

int64_t site_budget_fastest_ns(const site_budget *b)
{
    int64_t fastest = b->recent[0];
    for (size_t i = 1; i < b->recent_count; i++)
        fastest = b->recent[i] < fastest ? b->recent[i] : fastest;
    return fastest;
}

int64_t site_budget_allowed_ns(const site_budget *b)
{
    return b->seen_ns / 1000 * b->share_ppm / 1000;
}

int64_t site_budget_left_ns(const site_budget *b)
{
    return site_budget_allowed_ns(b) - b->spent_ns;
}

double site_budget_spread(const site_budget *b)
{
    return b->low_ns > 0 ? (double)b->high_ns / (double)b->low_ns : 1;
}

void site_budget_count_untimed(site_budget *b, uint64_t calls)
{
    if (site_budget_is_known(b))
        b->seen_ns += (int64_t)calls * b->low_ns;
    else
        b->uncounted += calls;
}

void site_budget_pay(site_budget *b, int64_t *extra_ns, const site_sample *s)
{
    int64_t before = extra_ns && *extra_ns > 0 ? *extra_ns : 0;
    if (extra_ns && site_budget_is_known(b))
        *extra_ns += s->time_ns - b->mean_ns;
    int64_t after = extra_ns && *extra_ns > 0 ? *extra_ns : 0;
    b->spent_ns += s->overhead_ns + after - before;
    b->seen_ns +=
        site_budget_is_known(b) && s->time_ns > b->typical_ns ? b->typical_ns : s->time_ns;
}

void site_budget_note_overhead(site_budget *b, int64_t ns)
{
    if (ns > 0)
        b->overhead_ns = b->overhead_ns ? (3 * b->overhead_ns + ns) / 4 : ns;
}

/* The value of a sample is the mean of the fastest 1/FASTEST_PART of its calls, at least one. With
 * eight streams that keep an H100 busy, each stream adds tens of microseconds to any call; in that
 * case the fastest eighth distinguished configurations better than the fastest call or the mean. */
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

bool site_race_tell(site_race *r, size_t place, int64_t time_ns)
{
    site_slot *slot = &r->slots[place];
    int64_t *kept_ns = r->fastest_ns + place * MOST_KEPT, sum_ns = 0;
    const uint32_t kept = r->calls_each < FASTEST_PART ? 1 : r->calls_each / FASTEST_PART;
    keep_fastest(kept_ns, slot->told++, kept, time_ns);
    if (slot->told < r->calls_each)
        return false;
    for (uint32_t i = 0; i < kept; i++)
        sum_ns += kept_ns[i];
    r->samples[place] = sum_ns / kept;
    if (++r->block_told < r->block_count)
        return false;
    race_tell(r->race, r->samples);
    r->block_count = 0;
    r->blocks++;
    return true;
}
