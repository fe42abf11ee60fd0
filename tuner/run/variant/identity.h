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
 * Twins (run/variant/twins.h), the journal (run/variant/variant_log.h), checks of records
 * (run/standing/standing.h) and `lint` all ask here. The facts that only the compiler needs to tell
 * sources apart are in compile/wire.h. */
#ifndef AUTOTUNE_RUN_VARIANT_IDENTITY_H
#define AUTOTUNE_RUN_VARIANT_IDENTITY_H

#include "run/variant/sources.h"
#include "run/variant/variant.h"

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
