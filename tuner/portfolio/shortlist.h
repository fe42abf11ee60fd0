/* Chooses which of many configurations deserve to be timed on every problem. Each was timed on some
 * of them, by searches that tried other configurations beside it.
 *
 * A configuration that is best on one problem by a hair serves less than one that is nearly best
 * wherever it was tried. So a configuration counts, where it was not timed, as its mean elsewhere,
 * drawn towards the mean of all the more, the fewer times it has. Those that together lose least
 * are listed, the one that saves most first (greedy facility location, as in cover.h; a problem's
 * second and third best count, too). Of 82 sums of columns that were timed whole, the best six of
 * 12 that are listed so lose 1.0 % on other problems than those that were searched, and more than 4
 * % on 1.5 of 100 of them; of the fastest of each search 1.1 % and on 3.1 of 100. Of 20 it is 1.0 %
 * and 1.7, and 1.0 % and 2.1 (tests/bench/portfolio_sets). */
#ifndef AUTOTUNE_PORTFOLIO_SHORTLIST_H
#define AUTOTUNE_PORTFOLIO_SHORTLIST_H

#include "portfolio/matrix.h"

/* These stand in place of a ratio. */
enum { SHORTLIST_UNKNOWN = -1, SHORTLIST_IMPOSSIBLE = 0 };

/* Lists `most` configurations, or as many as are possible on some problem; `list` has room for
 * them. Returns how many. */
size_t portfolio_shortlist(const portfolio_matrix *m, size_t most, size_t *list);

#endif
