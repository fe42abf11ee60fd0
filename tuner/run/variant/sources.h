/* The sources of a variant: one for the tuned problem, and one for each ragged problem that it is
 * checked on; and what makes two variants the same. */
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

/* Identity: what makes two variants the same.
 *
 * All variants of a run share the device, the problems and the reference, which are the journal's
 * facts (journal/key.h). Two variants are the same if everything else that a script can make depend
 * on a configuration is the same: on which problems they are checked, how their data is laid out,
 * and for each of these problems the launches (entries, grids, blocks, clusters, shared memory,
 * arguments, constants, views, the transfer) and what is compiled (source, included files and
 * options). The last two are one text, the hash of script/emit.h, or else the machine code that
 * became of them.
 *
 * Twins, the journal (run/variant/course.h), checks of records
 * (run/standing/standing.h) and `lint` all ask here. The facts that only the compiler needs to tell
 * sources apart are in compile/wire.h. */
/* A variant on one of its problems. */
typedef struct identity_part {
    const char *text; /* of what is compiled; NULL: it is not checked on this problem */
    const launch_plan *plan;
} identity_part;

/* `layout` as the device numbers it. */
journal_key identity_of(const identity_part *parts, size_t count, uint32_t layout);

/* Sets c->source, by what is compiled for each of its problems. One whose ragged problems are
 * deferred is another one than with them: its outcome says less. */
void identity_by_source(candidate *c, const sources *all);

/* Sets c->codes[slot] to a hash of the machine code and its resources; "" when the code is not
 * known. */
void identity_note_code(candidate *c, size_t slot, const compile_result *r, bool is_ptx);

/* Sets c->code from c->codes, and c->has_code: false if one of them is not known. */
void identity_by_code(candidate *c);

#endif
