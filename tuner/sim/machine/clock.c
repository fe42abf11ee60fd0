#include "sim/machine/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct sim_clock {
    int references; /* atomic */
    uint32_t count;
    /* Sorted by block, unit, and decreasing `until`. No lane of a unit is in two entries. */
    sim_known known[];
};

enum { FEW = 8 }; /* a list that is this many times shorter is looked up entry by entry */

sim_clock *sim_clock_keep(sim_clock *clock)
{
    if (clock)
        __atomic_fetch_add(&clock->references, 1, __ATOMIC_RELAXED);
    return clock;
}

void sim_clock_drop(sim_clock *clock)
{
    if (clock && __atomic_sub_fetch(&clock->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(clock);
}

static int compare_units(const sim_known *a, const sim_known *b)
{
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* Returns the index of the first entry that is not before the unit. */
static uint32_t find(const sim_clock *clock, uint32_t block, uint32_t unit)
{
    const sim_known wanted = {.block = block, .unit = unit};
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_units(&clock->known[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t sim_clock_lanes(const sim_clock *clock, uint32_t block, uint32_t unit, uint32_t lanes,
                         uint32_t order)
{
    uint32_t known = 0;
    for (uint32_t i = clock ? find(clock, block, unit) : 0; clock && i < clock->count; i++) {
        const sim_known *k = &clock->known[i];
        if (k->block != block || k->unit != unit || k->until < order)
            break;
        known |= k->lanes;
    }
    return known & lanes;
}

uint32_t sim_clock_epoch(const sim_clock *clock, uint32_t block)
{
    uint32_t i = clock ? find(clock, block, SIM_UNIT_BLOCK) : 0;
    bool found = clock && i < clock->count && clock->known[i].block == block &&
                 clock->known[i].unit == SIM_UNIT_BLOCK;
    return found ? clock->known[i].until : 0;
}

static bool covers(const sim_clock *clock, const sim_known *known, uint32_t count)
{
    if (!clock)
        return count == 0;
    bool few = count * FEW < clock->count;
    uint32_t at = 0, lanes = 0;
    for (uint32_t i = 0; i < count; i++) {
        const sim_known *k = &known[i];
        if (i == 0 || compare_units(&known[i - 1], k) != 0) {
            lanes = 0;
            if (few)
                at = find(clock, k->block, k->unit);
            while (at < clock->count && compare_units(&clock->known[at], k) < 0)
                at++;
        }
        /* In both lists, the entries of a unit have decreasing `until`. */
        for (; at < clock->count && compare_units(&clock->known[at], k) == 0 &&
               clock->known[at].until >= k->until;
             at++)
            lanes |= clock->known[at].lanes;
        if (k->lanes & ~lanes)
            return false;
    }
    return true;
}

/* Merges the entries of one unit. Each lane stays in the entry with the highest `until`. */
static uint32_t merge_unit(sim_known *to, const sim_known *a, uint32_t a_count, const sim_known *b,
                           uint32_t b_count)
{
    uint32_t n = 0, seen = 0;
    for (uint32_t i = 0, j = 0; i < a_count || j < b_count;) {
        bool first = j == b_count || (i < a_count && a[i].until >= b[j].until);
        sim_known k = first ? a[i++] : b[j++];
        k.lanes &= ~seen;
        seen |= k.lanes;
        if (k.lanes == 0)
            continue;
        if (n > 0 && to[n - 1].until == k.until)
            to[n - 1].lanes |= k.lanes;
        else
            to[n++] = k;
    }
    return n;
}

static uint32_t unit_length(const sim_known *known, uint32_t count)
{
    uint32_t n = 1;
    while (n < count && compare_units(&known[n], known) == 0)
        n++;
    return n;
}

static uint32_t merge(sim_known *to, const sim_known *a, uint32_t a_count, const sim_known *b,
                      uint32_t b_count)
{
    uint32_t n = 0;
    while (a_count > 0 || b_count > 0) {
        int order = a_count == 0 ? 1 : b_count == 0 ? -1 : compare_units(a, b);
        uint32_t i = order <= 0 ? unit_length(a, a_count) : 0,
                 j = order >= 0 ? unit_length(b, b_count) : 0;
        n += merge_unit(to + n, a, i, b, j);
        a = i > 0 ? a + i : a;
        a_count -= i;
        b += j;
        b_count -= j;
    }
    return n;
}

void sim_clock_add(sim_clock **into, const sim_known *known, uint32_t count)
{
    uint32_t old = *into ? (*into)->count : 0;
    if (covers(*into, known, count))
        return;
    sim_clock *joined =
        memory_require(malloc(sizeof *joined + (old + count) * sizeof *joined->known));
    joined->references = 1;
    joined->count = merge(joined->known, *into ? (*into)->known : NULL, old, known, count);
    sim_clock_drop(*into);
    *into = joined;
}

void sim_clock_join(sim_clock **into, sim_clock *other)
{
    if (!other || *into == other)
        return;
    if (!*into ||
        (other->count >= (*into)->count && covers(other, (*into)->known, (*into)->count))) {
        sim_clock_drop(*into);
        *into = sim_clock_keep(other);
    } else {
        sim_clock_add(into, other->known, other->count);
    }
}

void sim_clock_join_others(sim_clock **into, sim_clock *other, uint32_t block, uint32_t unit)
{
    if (!other || *into == other)
        return;
    uint32_t first = find(other, block, unit), end = first;
    while (end < other->count && other->known[end].block == block && other->known[end].unit == unit)
        end++;
    if (first == end) {
        sim_clock_join(into, other);
        return;
    }
    sim_clock_add(into, other->known, first);
    sim_clock_add(into, other->known + end, other->count - end);
}
