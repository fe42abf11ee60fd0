/* Candidates: the variants of a run, from their emission to their outcome.
 *
 * The table owns its candidates. Pointers to candidates stay valid until candidates_deinit().
 *
 * The stages of a candidate, up to its outcome:
 *
 *   stage        waits for                 event                                       next stage
 *   NEW          its sources               the sources were sent to the compilers      COMPILING
 *                                          no source needs compiling                   WAITING
 *                                          a variant with the same source is known     FOLLOWING
 *                                          the journal has the outcome, or it is       FINISHED
 *                                          likely to hang
 *   COMPILING    compile results           the last result arrived                     WAITING
 *                                          ... and a variant has the same code         FOLLOWING
 *                                          ... and the session has no device           FINISHED
 *                                          one source does not compile                 FINISHED
 *                                          ... and others are still compiling          RECOMPILING
 *   WAITING      a free device             a device takes it                           TRYING
 *                                          it has become likely to hang                FINISHED
 *   TRYING       the device's answer       it was checked and timed, or failed         FINISHED
 *                                          the GPU was lost                            WAITING
 *   FOLLOWING    its twin's outcome        the twin is FINISHED                        FINISHED
 *   ABANDONED    nothing: the time was up in one of the stages above, except FOLLOWING
 *
 *   After the outcome, which a failure may still change:
 *
 *   FINISHED     nothing                   it is compiled for the race or a check      RECOMPILING
 *                                          its ragged problems must be checked         CHECK_DUE
 *   RECOMPILING  compile results           the last result arrived                     FINISHED
 *                                          ... and it was compiled for a check         CHECK_DUE
 *   CHECK_DUE    a free device             a device takes it                           CHECKING
 *                                          it did not compile                          FINISHED
 *   CHECKING     the device's answer       the answer arrived                          FINISHED
 *                                          the GPU was lost                            CHECK_DUE
 *
 * Two more states of a candidate are independent of its stage: its check on ragged problems
 * (candidate_ragged) and its proof (proof_verdict). */
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
    RAGGED_WITH_TUNED, /* checked together with the tuned problem, or there is no ragged problem */
    RAGGED_DEFERRED,   /* not compiled or checked until a race wants it or it leads */
    RAGGED_UNCHECKED,  /* compiled or submitted, not checked yet */
    RAGGED_PASSED
} candidate_ragged;

/* Invariants, asserted by candidates_move():
 *   - `parts` is above 0 while COMPILING or RECOMPILING, and 0 in all other stages but ABANDONED;
 *   - before FINISHED only a FOLLOWING candidate has a `twin_of`;
 *   - `found` and `fastest_ns` are valid from FINISHED on; `key` and `gpu` from TRYING on, or from
 *     FINISHED on if the outcome is from the journal;
 *   - a WAITING or TRYING candidate has all its machine code; a FINISHED one may have dropped it;
 *   - a CHECK_DUE or CHECKING candidate has `ragged` == RAGGED_UNCHECKED. */
typedef struct candidate {
    uint64_t configuration;   /* index in the space */
    uint64_t id;              /* index in the table */
    char source_hash[33];     /* hash of the tuned problem's source */
    journal_key source, code; /* identities by sources and by machine code (sources.h) */
    bool has_code;            /* `code` is valid */
    uint32_t layout;          /* number of its data's layout (device_problem.layout) */
    launch_plan launches[DEVICE_SLOTS];
    bool present[DEVICE_SLOTS];    /* the candidate is timed or checked on this problem */
    uint32_t broken[DEVICE_SLOTS]; /* where `present` is false: index of the constraint that
                                      excludes the candidate */

    candidate_stage stage;
    uint8_t parts; /* number of compile results that have not arrived */
    candidate_ragged ragged;
    struct candidate *twin_of; /* the candidate that is tried in place of this one; or NULL */
    /* The next candidate with the same twin_of. In the representative, its first twin. */
    struct candidate *next_twin;
    size_t gpu;   /* the pipeline's GPU that measures or measured it */
    bool counted; /* the candidate, or a twin of it, has counted as an evaluation of the search */

    /* Machine code by slot; owned. NULL if a slot uses the code of slot 0, or if it was dropped. */
    void *images[DEVICE_SLOTS];
    size_t image_bytes[DEVICE_SLOTS];
    char *image_symbols[DEVICE_SLOTS]; /* names of the kernels in the image; owned */
    bool image_shared[DEVICE_SLOTS];   /* the image has kernels of other variants, too */
    char codes[DEVICE_SLOTS][33];      /* hashes of the images and their resources; "" if unknown */

    measurement found;  /* owned; has the first samples, not the race's samples */
    int64_t fastest_ns; /* fastest first sample; 0 if there is none */
    bool from_journal;  /* an earlier run measured it */
    journal_key key;    /* key in the journal: its sources and its GPU */
    proof_verdict verdict;
    char *unproven;            /* reason why the candidate is not proven; owned; may be NULL */
    device_coverage *coverage; /* coverage of the proof; owned; NULL without a proof */
} candidate;

typedef struct candidates {
    candidate **items;
    size_t count;
    size_t at[CANDIDATE_STAGES]; /* number of candidates at each stage */
} candidates;

candidate *candidates_add(candidates *table, uint64_t configuration);
void candidates_deinit(candidates *table);

/* Moves a candidate. Debug builds assert the table above and the invariants of the struct. */
void candidates_move(candidates *table, candidate *c, candidate_stage to);

static inline bool candidate_is_finished(const candidate *c)
{
    return c->stage >= CANDIDATE_FINISHED;
}

/* Returns true if the candidate may race: it works and is not a twin of another. */
static inline bool candidate_may_race(const candidate *c)
{
    return candidate_is_finished(c) && !c->twin_of && c->found.outcome == OUTCOME_OK;
}

/* Gives the candidate a copy of `found`. */
void candidate_copy(candidate *c, const measurement *found);

/* Sets the outcome, with copies of message and samples. Keeps compile time and resources. */
void candidate_found(candidate *c, outcome o, const char *message, const int64_t *samples_ns,
                     size_t sample_count);

/* Sets another outcome for a candidate that worked until now. Keeps its samples. */
void candidate_reject(candidate *c, outcome o, const char *message);

/* Takes a proof's findings and frees its message. If it found a fault, the outcome stays wrong. */
void candidate_judge(candidate *c, proof *found);

/* Returns the median of its samples, or 0. */
int64_t candidate_median_ns(const candidate *c);

/* Fills in the variant for a device worker. The variant borrows the images. */
void candidate_variant(const candidate *c, device_variant *out);

/* Returns true if the candidate is not yet compiled for its ragged problems. */
bool candidate_waits(const candidate *c);

/* Returns true if the candidate was checked on all problems that it accepts. */
bool candidate_is_checked(const candidate *c);

/* Returns true if no machine code is missing. A candidate without launches needs no code. */
bool candidate_has_code(const candidate *c);

size_t candidate_code_bytes(const candidate *c);

/* Frees the machine code, which can be compiled again. */
void candidate_drop_images(candidate *c);

/* Twins: variants with the same sources or the same machine code (sources.h). One variant of each
 * class, its representative, is compiled, checked and timed; the others take its outcome. The same
 * code with another grid is another variant. */
typedef struct twins { /* zeroed before use */
    keymap by_source, by_code;
} twins;

void twins_deinit(twins *t);

/* Enters a variant by c->source. Returns its class's representative, or NULL if `c` is the
 * first. */
candidate *twins_meet_source(twins *t, const candidates *all, candidate *c);

/* Enters a variant by c->code in the same way, if the code is known. */
candidate *twins_meet_code(twins *t, const candidates *all, candidate *c);

/* Returns the representative of a variant, which may be the variant itself. */
candidate *twins_lead(candidate *c);

/* Makes `lead` the representative of `c`. The caller joins the variants that followed `c`. */
void twins_join(candidate *c, candidate *lead);

/* Gives `c` the outcome of its representative. */
void twins_follow(candidate *c);

/* Chooses the representative of each finished class: `preferred` (may be NULL) if it is in the
 * class, otherwise the lowest configuration. The order of the tries has no influence. */
void twins_elect(const candidates *all, const candidate *preferred);

#endif
