/* The sources of a variant: one for the tuned problem, and one for each ragged problem that it is
 * checked on. */
#ifndef AUTOTUNE_RUN_VARIANT_SOURCES_H
#define AUTOTUNE_RUN_VARIANT_SOURCES_H

#include "base/error.h"
#include "run/setup/session.h"
#include "run/variant/variant.h"
#include "script/emit.h"

typedef struct sources { /* one a slot; empty where the variant is not checked */
    emitted of[DEVICE_SLOTS];
} sources;

/* Emits them for the configuration `indices`, and sets the candidate's launches, its layout, and
 * which problems it is checked on. The caller calls sources_deinit(), also after a failure.
 * AT_SCRIPT, AT_NO_MEMORY. */
at_status sources_emit(session *s, const uint16_t *indices, candidate *c, sources *out,
                       at_error *error);
void sources_deinit(sources *all);

/* Puts the check on the ragged problems, if there is one, off until a race wants the candidate.
 * Their hashes stand for the code that is not compiled yet. */
void sources_defer_ragged(const sources *all, candidate *c);

/* Submits those that are to be compiled: not a source without launches, one whose code is there,
 * one of ragged problems that is deferred, or one that equals the tuned problem's. c->parts is how
 * many. */
at_status sources_submit(const sources *all, const session *s, candidate *c, at_error *error);

#endif
