/* What variants that do not end have in common.
 *
 * Each variant that hangs costs seconds, and the loop that has no end is seldom in one of them alone. In: the outcomes of
 * a run, as they come. Out: which configurations are likely to hang as well. Three that hung have some parameter values
 * in common; where no variant with all of these has ended, they are the likely cause, and others that have them need not
 * be tried. Nothing is said of a configuration that differs in one of them: which of several common values is the cause
 * is found out by trying. Without a common value it is what all variants share. */
#ifndef AUTOTUNE_RUN_VARIANT_HANGS_H
#define AUTOTUNE_RUN_VARIANT_HANGS_H

#include "base/error.h"
#include "run/variant/variant.h"
#include "script/script.h"
#include "space/space.h"

enum { HANGS_OF_A_CAUSE = 3, HANGS_TEXT_BYTES = 512 };

typedef struct hang_cause {
    bool is_common[PATTERN_MAX_PARAMETERS];
    uint16_t values[PATTERN_MAX_PARAMETERS]; /* of those that are common */
    char text[HANGS_TEXT_BYTES];             /* "mode=2, block=64"; "": there are none */
} hang_cause;

typedef struct hangs { /* zeroed: none is known */
    hang_cause *causes; /* owned */
    size_t count;
} hangs;

void hangs_deinit(hangs *h);

/* Takes the outcome of the candidate into account, which is one of `all` and finished. AT_NO_MEMORY. */
at_status hangs_note(hangs *h, const space *s, const candidates *all, const candidate *c, at_error *error);

/* The likely cause for which a configuration would hang; NULL: there is none. */
const hang_cause *hangs_find(const hangs *h, const space *s, const uint16_t *indices);

#endif
