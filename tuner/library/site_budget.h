/* What the tuning of a site may cost: a share of the time that its calls took, which is told by
 * what its incumbent takes. */
#ifndef AUTOTUNE_LIBRARY_SITE_BUDGET_H
#define AUTOTUNE_LIBRARY_SITE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library/site_tuner.h"

enum {
    SITE_BUDGET_RECENT = 8, /* times of the incumbent, of which the median counts */
    SITE_BUDGET_KNOWN = 3   /* times that say what it takes */
};

typedef struct site_budget {
    int64_t recent[SITE_BUDGET_RECENT];
    size_t recent_count, recent_next;
    int64_t typical_ns, low_ns, high_ns, mean_ns; /* median, quartiles; mean: of more of them */
    uint64_t uncounted;                           /* calls before the incumbent's time was known */
    int64_t seen_ns, spent_ns;                    /* time of the calls; cost of the trials */
    int64_t overhead_ns;                          /* of timing a call, on average */
    int64_t share_ppm;
} site_budget;

site_budget site_budget_of(double share);

/* There is another incumbent: its times are not known. */
void site_budget_forget(site_budget *b);

/* Notes a time of the incumbent. Is it known by now what it takes? */
void site_budget_note(site_budget *b, int64_t time_ns);
bool site_budget_is_known(const site_budget *b);

/* The fastest of its recent times, and how much these differ: the third quartile over the first. */
int64_t site_budget_fastest_ns(const site_budget *b);
double site_budget_spread(const site_budget *b);

/* What trials may cost in all, and what is left of that; below 0: they cost more. */
int64_t site_budget_allowed_ns(const site_budget *b);
int64_t site_budget_left_ns(const site_budget *b);

/* So many calls used the incumbent and were not timed. */
void site_budget_see(site_budget *b, uint64_t calls);

/* The time of a call counts as seen, and what it took longer than the incumbent as spent: for each
 * entrant the sum over its calls, *extra_ns, in which luck and bad luck even out. NULL: the call
 * was the incumbent's. */
void site_budget_pay(site_budget *b, int64_t *extra_ns, const site_sample *s);

/* Timing a call took so long of the host. */
void site_budget_note_overhead(site_budget *b, int64_t ns);

#endif
