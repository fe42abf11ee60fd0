/* The sources of a variant, one for each of its problems, and the identity of variants. */
#ifndef AUTOTUNE_RUN_VARIANT_SOURCES_H
#define AUTOTUNE_RUN_VARIANT_SOURCES_H

#include "base/error.h"
#include "run/setup/session.h"
#include "run/variant/variant.h"
#include "script/emit.h"

typedef struct sources { /* by slot; empty if the variant is not checked on that problem */
    emitted of[DEVICE_SLOTS];
} sources;

/* Emits the sources of configuration `indices`. Sets the candidate's launches, layout and problems.
 * The caller calls sources_deinit(), also after a failure. Returns AT_SCRIPT or AT_NO_MEMORY. */
at_status sources_emit(session *s, const uint16_t *indices, candidate *c, sources *out,
                       at_error *error);
void sources_deinit(sources *all);

/* Defers the check on the ragged problems, if there are any, until a race wants the candidate. The
 * hashes of the sources stand for the code that is not compiled yet. */
void sources_defer_ragged(const sources *all, candidate *c);

/* Submits the sources that must be compiled; sets c->parts to their number. Skips sources without
 * launches or with code, deferred ragged problems, and copies of the tuned problem's source. */
at_status sources_submit(const sources *all, const session *s, candidate *c, at_error *error);

/* ---- identity ----
 *
 * Two variants are the same if they agree in everything that depends on the configuration: their
 * problems, the layout of their data, and for each problem the launches (entries, grids, blocks,
 * clusters, shared memory, arguments, constants, views, the transfer) and the compiled text
 * (source, included files, options). Texts are compared by the hash of script/emit.h or by their
 * machine code. The journal's facts (journal/journal.h) are the same for all variants of a run.
 * Facts that only the compiler needs are in compile/wire.h. */
/* A variant on one of its problems. */
typedef struct identity_part {
    const char *text; /* hash of the compiled text; NULL if the problem is not checked */
    const launch_plan *plan;
} identity_part;

/* Returns the identity of a variant. `layout` is device_problem.layout. */
journal_key identity_of(const identity_part *parts, size_t count, uint32_t layout);

/* Sets c->source from the compiled texts of its problems. A variant with deferred ragged problems
 * has another identity than the same variant with checked ragged problems, because its outcome
 * tells less. */
void identity_by_source(candidate *c, const sources *all);

/* Sets c->codes[slot] to a hash of machine code and resources, or to "" if the code is unknown. */
void identity_note_code(candidate *c, size_t slot, const compile_result *r, bool is_ptx);

/* Sets c->code from c->codes. Sets c->has_code to false if one of c->codes is unknown. */
void identity_by_code(candidate *c);

#endif
