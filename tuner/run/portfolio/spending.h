/* How a budget of seconds is spent: variants of a search, configurations that are timed everywhere.
 *
 * Both come in steps, so that a resumed run, whose times are others, asks alike. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_SPENDING_H
#define AUTOTUNE_RUN_PORTFOLIO_SPENDING_H

#include <stddef.h>
#include <stdint.h>

enum {
    SPENDING_LEAST_SEARCHED = 128, /* variants of a search that has to be short */
    SPENDING_LEAST_EVERYWHERE = 16,
    SPENDING_MOST_EVERYWHERE = 48
};

/* Variants of the next search, a power of 2, if `left_s` seconds are for `problems` that are not
 * searched yet, at `variant_s` for each; 0: no limit is needed, for there is time for `normal`. A
 * search that tries little beside what is good elsewhere finds nothing: rather than that, it is of
 * SPENDING_LEAST_SEARCHED, and not all are searched. */
size_t spending_search(double left_s, size_t problems, double variant_s, uint64_t normal);

/* Configurations that there is time for on each of the problems: 16, 32 or 48. */
size_t spending_everywhere(double left_s, size_t problems, double variant_s);

#endif
