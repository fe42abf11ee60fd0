/* Candidates: the variants a run knows, from their emission to their outcome.
 *
 * The table owns its candidates; pointers to them stay valid until candidates_deinit().
 *
 * The stages of a candidate: from its configuration to its outcome, and what may come after that.
 *
 *   stage        what it waits for         what moves it on                            to
 *   NEW          its sources               they are with the compilers                 COMPILING
 *                                          nothing of it is to be compiled             WAITING
 *                                          a variant with the same source was met      FOLLOWING
 *                                          the journal knows it, or others hung        FINISHED
 *   COMPILING    compile results           the last is there                           WAITING
 *                                          ... and the same machine code was met       FOLLOWING
 *                                          ... and there is no device to try it        FINISHED
 *                                          one part does not compile                   FINISHED, or
 *                                          ... and others are still being compiled     RECOMPILING
 *   WAITING      a free device             one takes it                                TRYING
 *                                          others hung meanwhile                       FINISHED
 *   TRYING       the device's answer       it is checked and timed, or failed          FINISHED
 *                                          the GPU is lost                             WAITING
 *   FOLLOWING    its twin's outcome        the one that stands for it has finished     FINISHED
 *   ABANDONED    nothing: time was up in one of the stages above but FOLLOWING
 *
 *   From here on it has an outcome, which a failure may still change:
 *
 *   FINISHED     nothing                   it is compiled for the race, or a check     RECOMPILING
 *                                          it is to be checked on its ragged problems  CHECK_DUE
 *   RECOMPILING  compile results           the last is there                           FINISHED
 *                                          ... and it was compiled for a check         CHECK_DUE
 *   CHECK_DUE    a free device             one takes it                                CHECKING
 *                                          it did not compile                          FINISHED
 *   CHECKING     the device's answer       it is there                                 FINISHED
 *                                          the GPU is lost                             CHECK_DUE
 *
 * Beside its stage a candidate has two courses of its own: its check on ragged problems
 * (candidate_ragged) and its proof (proof_verdict), which may come before its outcome or after it.
 */
#ifndef AUTOTUNE_RUN_VARIANT_VARIANT_H
#define AUTOTUNE_RUN_VARIANT_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "bench/client.h"
#include "compile/compile.h"
#include "device/outcome.h"
#include "device/plan.h"
#include "journal/journal.h"
#include "run/variant/proof.h"

typedef enum candidate_stage {
    CANDIDATE_NEW,
    CANDIDATE_COMPILING,
    CANDIDATE_WAITING,
    CANDIDATE_TRYING,
    CANDIDATE_FOLLOWING,
    CANDIDATE_ABANDONED,
    CANDIDATE_FINISHED,
    CANDIDATE_RECOMPILING,
    CANDIDATE_CHECK_DUE,
    CANDIDATE_CHECKING,
    CANDIDATE_STAGES
} candidate_stage;

/* The check of a candidate on the ragged problems. */
typedef enum candidate_ragged {
    RAGGED_WITH_TUNED, /* done together with the check on the tuned problem, or there is no ragged
                          problem */
    RAGGED_DEFERRED, /* neither compiled nor checked until a race wants the candidate or it leads */
    RAGGED_UNCHECKED, /* compiled or submitted, not checked yet */
    RAGGED_PASSED
} candidate_ragged;

/* Invariants (candidates_move asserts them):
 *   - `parts` is not 0 while COMPILING or RECOMPILING, may be while ABANDONED, and is 0 else;
 *   - until it is finished it has a `twin_of` while FOLLOWING alone; then as long as it does not
 *     stand for itself (twins_elect);
 *   - `found` and `fastest_ns` hold from FINISHED on; `key` and `gpu` from TRYING on, or, where the
 *     outcome is from the journal, from FINISHED on;
 *   - all machine code that it needs is there while it is WAITING or TRYING, and may be dropped
 *     once it is FINISHED;
 *   - only a `ragged` of UNCHECKED is CHECK_DUE or CHECKING. */
typedef struct candidate {
    /* Its identity. */
    uint64_t configuration;   /* index into the space */
    uint64_t id;              /* place in the table */
    char source_hash[33];     /* of the tuned problem's source */
    journal_key source, code; /* by its sources, and by its machine code (run/variant/sources.h) */
    bool has_code;            /* `code` holds */
    uint32_t layout;          /* of its data, as the device numbers it */
    launch_plan launches[DEVICE_SLOTS];
    bool present[DEVICE_SLOTS];    /* problems that it is checked on */
    uint32_t broken[DEVICE_SLOTS]; /* where it is not present: the constraint that rules it out */

    /* Its progress. */
    candidate_stage stage;
    uint8_t parts; /* compile results that it still waits for */
    candidate_ragged ragged;
    struct candidate *twin_of; /* stands for it, which is not tried; NULL: it stands for itself */
    /* The next twin of the one that stands for both, or the first that it stands for. */
    struct candidate *next_twin;
    size_t gpu;   /* of the pipeline: what measured it, or is at it */
    bool counted; /* it, or one that it stands for, was an evaluation of the search */

    /* Its machine code: owned; NULL: that of slot 0 serves, or it was dropped. */
    void *images[DEVICE_SLOTS];
    size_t image_bytes[DEVICE_SLOTS];
    char *image_symbols[DEVICE_SLOTS]; /* owned; its kernels' names in it */
    bool image_shared[DEVICE_SLOTS];   /* kernels of others are in it */
    char codes[DEVICE_SLOTS][33];      /* of each image and its resources, a hash; "" not known */

    /* Its findings. */
    measurement found;  /* owned; samples: the first ones, unpaired */
    int64_t fastest_ns; /* of these samples; 0: there is none */
    bool from_journal;  /* an earlier run measured it */
    journal_key key;    /* by its sources, under the journal's facts and on its GPU */
    proof_verdict verdict;
    char *unproven;            /* owned; why it is not proven; may be NULL */
    device_coverage *coverage; /* owned; what its proof covered; NULL: it is not proven */
} candidate;

typedef struct candidates {
    candidate **items;
    size_t count;
    size_t at[CANDIDATE_STAGES]; /* how many are at each stage */
} candidates;

/* Appends a candidate for a configuration, which is new. */
candidate *candidates_add(candidates *table, uint64_t configuration);
void candidates_deinit(candidates *table);

/* Moves a candidate of the table on. In debug builds the table above and the invariants of struct
 * candidate are asserted here. */
void candidates_move(candidates *table, candidate *c, candidate_stage to);

/* Has it an outcome? */
static inline bool candidate_is_finished(const candidate *c)
{
    return c->stage >= CANDIDATE_FINISHED;
}

/* Did it work, and does it stand for itself? Only such candidates race. */
static inline bool candidate_may_race(const candidate *c)
{
    return candidate_is_finished(c) && !c->twin_of && c->found.outcome == OUTCOME_OK;
}

/* Gives it a copy of what was found. */
void candidate_copy(candidate *c, const measurement *found);

/* Notes what became of it, with copies of the message and of the samples; what it took and its
 * resources stay. */
void candidate_found(candidate *c, outcome o, const char *message, const int64_t *samples_ns,
                     size_t sample_count);

/* The same of one that had worked until then: its samples stay. */
void candidate_reject(candidate *c, outcome o, const char *message);

/* Takes what a proof found (and frees its message); a variant that is convicted has a wrong result,
 * whatever a device finds then. */
void candidate_judge(candidate *c, proof *found);

/* The median of its samples, 0 without one. */
int64_t candidate_median_ns(const candidate *c);

/* Fills in what the device worker needs of it; borrows the images. */
void candidate_variant(const candidate *c, device_variant *out);

/* Is it still to be compiled for its ragged problems? */
bool candidate_waits(const candidate *c);

/* Has it been checked on all problems that it accepts? */
bool candidate_is_checked(const candidate *c);

/* Is all machine code there that it needs? One that launches nothing needs none. */
bool candidate_has_code(const candidate *c);

/* The bytes of its machine code. */
size_t candidate_code_bytes(const candidate *c);

/* Frees the machine code; it can be compiled again. */
void candidate_drop_images(candidate *c);

/* Twins: variants that are the same by their sources or by their machine code
 * (run/variant/sources.h).
 *
 * One variant of each such class stands for all: it is compiled, checked and timed, and the others
 * take its outcome. The same code with another grid is another variant. */
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
