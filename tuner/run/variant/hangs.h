/* Finds what variants that do not end have in common.
 *
 * Each variant that hangs costs seconds, and the loop that has no end is seldom in one of them
 * alone. In: which configurations hung and which ended, as that becomes known. Out: which others
 * are likely to hang as well. Three that hung have some parameter values in common; if no variant
 * with all of these has ended, they are the likely cause, and others that have them need not be
 * tried. Nothing is said of a configuration that differs in one of them: which of several common
 * values is the cause is found out by trying. If they have no common value the cause is in what all
 * variants share. */
#ifndef AUTOTUNE_RUN_VARIANT_HANGS_H
#define AUTOTUNE_RUN_VARIANT_HANGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/pattern.h"

enum { HANGS_OF_A_CAUSE = 3, HANGS_TEXT_BYTES = 512, HANGS_WHY_BYTES = HANGS_TEXT_BYTES + 160 };

typedef struct hang_cause {
    bool is_common[PATTERN_MAX_PARAMETERS];
    uint16_t values[PATTERN_MAX_PARAMETERS]; /* of those that are common */
    char text[HANGS_TEXT_BYTES];             /* "mode=2, block=64"; "": there are none */
} hang_cause;

typedef struct hangs {
    const pattern *pattern; /* borrowed */
    uint16_t *hung, *ended; /* owned; configurations, one after the other */
    size_t hung_count, ended_count;
    hang_cause *causes; /* owned */
    size_t count;
} hangs;

void hangs_init(hangs *h, const pattern *p);
void hangs_deinit(hangs *h); /* a zeroed one is fine */

/* Takes into account that a configuration hung, or that it ended, in whatever way. */
void hangs_note(hangs *h, const uint16_t *indices, bool hung);

/* The likely cause for which a configuration would hang; NULL: there is none. */
const hang_cause *hangs_find(const hangs *h, const uint16_t *indices);

/* Writes why it was not tried. */
void hangs_explain(const hang_cause *cause, char why[HANGS_WHY_BYTES]);

#endif
