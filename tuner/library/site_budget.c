#include "library/site_budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The mean of the incumbent's times forgets after so many. */
enum { AVERAGED = 16 };

/* What tuning aims at of its share: what the incumbent takes on average is not known exactly. */
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

/* The mean has the machine's outliers, as the times of trials have. */
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

void site_budget_see(site_budget *b, uint64_t calls)
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
