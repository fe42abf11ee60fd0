/* The rules of a race: the protocol of search/race/race.h with what the settings change. */
#ifndef AUTOTUNE_RACE_RULES_H
#define AUTOTUNE_RACE_RULES_H

#include "run/setup/settings.h"
#include "run/variant/variant.h"
#include "search/race/race.h"

/* The protocol with seed, blocks and margin of the settings. A quick run races only the few that
 * are nearest to the best by their first samples, in fewer blocks, and no default that is much
 * slower. The samples of the variants that were tried say how near; if they do not tell, or `tried`
 * is NULL, it is the most that it can be. */
race_options race_rules(const settings *o, const candidates *tried);

#endif
