/* Finds the parameter values that hanging variants have in common.
 *
 * Each hang costs seconds, and an endless loop is seldom in one variant alone. Input:
 * configurations that hung or ended. Output: configurations that are likely to hang. Values that
 * three hung configurations share are the likely cause, unless a variant with all these values has
 * ended. A configuration that differs in one of the values is still tried, which narrows the cause.
 * If the three share no value, the cause is in the code that all variants share. */
#ifndef AUTOTUNE_RUN_VARIANT_HANGS_H
#define AUTOTUNE_RUN_VARIANT_HANGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/pattern.h"

enum { HANGS_OF_A_CAUSE = 3, HANGS_TEXT_BYTES = 512, HANGS_WHY_BYTES = HANGS_TEXT_BYTES + 160 };

typedef struct hang_cause {
    bool is_common[PATTERN_MAX_PARAMETERS];
    uint16_t values[PATTERN_MAX_PARAMETERS]; /* the values in common */
    char text[HANGS_TEXT_BYTES];             /* "mode=2, block=64"; "" without a common value */
} hang_cause;

typedef struct hangs {
    const pattern *pattern; /* borrowed */
    uint16_t *hung, *ended; /* configurations, one after the other; owned */
    size_t hung_count, ended_count;
    hang_cause *causes; /* owned */
    size_t count;
} hangs;

/* Begins without configurations. Borrows the pattern. */
void hangs_init(hangs *h, const pattern *p);
void hangs_deinit(hangs *h); /* `h` may be zeroed. */

/* Notes that a configuration hung, or that it ended in any other way. */
void hangs_note(hangs *h, const uint16_t *indices, bool hung);

/* Returns the cause from which a configuration is likely to hang. Returns NULL if there is none. */
const hang_cause *hangs_find(const hangs *h, const uint16_t *indices);

/* Writes why a configuration with that cause was not tried. */
void hangs_explain(const hang_cause *cause, char why[HANGS_WHY_BYTES]);

#endif
