/* What a proof covered, as records and --json have it, and in words.
 *
 * {"problems": "the small problem n=4096, ...", "tuned": {"blocks": .., "run": .., "cut": ..,
 * "blind": .., "compared": ..} or null where it was run whole or not at all, "skipped": ..,
 * "never_ran": .., "ran_once": ..}; the texts are null where there is nothing to say. */
#ifndef AUTOTUNE_RECORD_COVERAGE_H
#define AUTOTUNE_RECORD_COVERAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "device/coverage.h"

/* New reference; NULL when out of memory. Null for one that covers nothing, or NULL. */
json_t *coverage_pack(const device_coverage *c);

/* Reads what coverage_pack() made, or anything else, of which nothing is told. */
device_coverage coverage_unpack(const json_t *packed);

enum { COVERAGE_SENTENCE_BYTES = COVERAGE_TEXT_BYTES + 64 };

/* The sentence at place `i`, without a full stop; false past the last. */
bool coverage_sentence(const device_coverage *c, size_t i, char text[COVERAGE_SENTENCE_BYTES]);

#endif
