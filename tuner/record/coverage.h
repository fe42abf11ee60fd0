/* The coverage of a proof, as records and --json have it; lua/lib/coverage.lua says it in words.
 *
 * {"problems": "the small problem n=4096, ...", "extent": "tuned", or "smaller" where no result of
 * the tuned problem was compared, "tuned": {"blocks": .., "run": .., "cut": .., "blind": ..,
 * "compared": ..} or null where it was run whole or not at all, "skipped": .., "never_ran": ..,
 * "ran_once": ..}; the texts are null where there is nothing to say. */
#ifndef AUTOTUNE_RECORD_COVERAGE_H
#define AUTOTUNE_RECORD_COVERAGE_H

#include <jansson.h>

#include "device/outcome.h"

/* New reference; NULL when out of memory. Null for one that covers nothing, or NULL. */
json_t *coverage_pack(const device_coverage *c);

#endif
