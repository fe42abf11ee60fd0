/* Twins: variants that are launched alike and have one source, or one machine code.
 *
 * Of each such class one stands for all: it is compiled, checked and timed, and the others take what became
 * of it. The same code with another grid is another variant. */
#ifndef AUTOTUNE_RUN_VARIANT_TWINS_H
#define AUTOTUNE_RUN_VARIANT_TWINS_H

#include "base/error.h"
#include "base/keymap.h"
#include "run/variant/variant.h"

typedef struct twins { /* zeroed: none is known */
    keymap by_source, by_code;
} twins;

void twins_deinit(twins *t);

/* Notes a variant by the hashes of its sources, one for each problem that it is checked on. *first: the
 * one that stands for those of the same sources and launches; NULL: it is the first of them. The only
 * failure is AT_NO_MEMORY, here as below. */
at_status twins_meet_source(twins *t, const candidates *all, candidate *c,
                            const char *const hashes[DEVICE_SLOTS], candidate **first, at_error *error);

/* Sets c->code, what its machine code is, from c->codes; it stays unset where one of them is not known. */
at_status twins_set_code(candidate *c, at_error *error);

/* The same by c->code: *first is NULL where that is not known. */
at_status twins_meet_code(twins *t, const candidates *all, candidate *c, candidate **first, at_error *error);

/* Who stands for a variant: itself, or its twin. */
candidate *twins_lead(candidate *c);

/* From now on `lead` stands for `c`; those that c stood for are the caller's to join. */
void twins_join(candidate *c, candidate *lead);

/* `c` takes what became of the one that stands for it. Out of memory drops message and samples. */
void twins_follow(candidate *c);

/* Of each class that is finished one stands for it whatever the order they were met in: `preferred`
 * (may be NULL), else the lowest configuration. */
void twins_elect(const candidates *all, const candidate *preferred);

#endif
