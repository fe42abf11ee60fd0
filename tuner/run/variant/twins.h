/* Twins: variants that are the same by their sources, or by their machine code
 * (run/variant/identity.h).
 *
 * One variant of each such class stands for all: it is compiled, checked and timed, and the others
 * take its outcome. The same code with another grid is another variant. */
#ifndef AUTOTUNE_RUN_VARIANT_TWINS_H
#define AUTOTUNE_RUN_VARIANT_TWINS_H

#include "base/keymap.h"
#include "run/variant/variant.h"

typedef struct twins { /* zeroed: none is known */
    keymap by_source, by_code;
} twins;

void twins_deinit(twins *t);

/* Enters a variant by c->source. Returns the variant that stands for those that are the same; NULL:
 * this is the first. */
candidate *twins_meet_source(twins *t, const candidates *all, candidate *c);

/* The same by c->code, where that is known. */
candidate *twins_meet_code(twins *t, const candidates *all, candidate *c);

/* The variant that stands for this one: itself, or its twin. */
candidate *twins_lead(candidate *c);

/* Makes `lead` stand for `c`. The caller joins those that `c` stood for. */
void twins_join(candidate *c, candidate *lead);

/* Gives `c` the outcome of the variant that stands for it. */
void twins_follow(candidate *c);

/* Chooses which variant stands for each finished class, independent of the order in which they
 * came: `preferred` (may be NULL), else the lowest configuration. */
void twins_elect(const candidates *all, const candidate *preferred);

#endif
