/* Who races, and how long: the protocol of search/race/race.h with what the settings change. */
#ifndef AUTOTUNE_RACE_RULES_H
#define AUTOTUNE_RACE_RULES_H

#include "run/setup/settings.h"
#include "run/variant/variant.h"
#include "search/race/race.h"

/* The protocol with seed, blocks and margin of the settings. A quick run races only the few who are
 * nearest to the best by their first samples, in fewer blocks, and no default that is far behind:
 * how near is what the samples of those who were tried leave open, or, where they do not tell, or
 * `tried` is NULL, the most that it can be. */
race_options race_rules(const settings *o, const candidates *tried);

#endif
