/* What a candidate gets next: the one rule of a run.
 *
 * In: facts about a candidate and about the run. Out: one step. candidate_next() has the rule. The
 * pipeline says which candidate is asked about first: the one that was added first. */
#ifndef AUTOTUNE_RUN_VARIANT_NEXT_H
#define AUTOTUNE_RUN_VARIANT_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/variant/variant.h"

typedef enum next_step {
    NEXT_WAIT, /* nothing, until something changes */
    NEXT_COMPILE,
    NEXT_TRY,
    NEXT_REJECT_HANGING, /* finished untried: it is likely to hang */
    NEXT_DROP_CODE,      /* its machine code is needed no longer */
    NEXT_CHECK,          /* on its ragged problems, and compiled for that */
    NEXT_PROVE,
    NEXT_PREPARE /* compiled for its ragged problems, so that a race finds the code */
} next_step;

typedef struct next_facts {
    candidate_stage stage;

    /* Before it is tried. */
    bool likely_hangs;

    /* Once it has finished. */
    bool works, has_code;
    double ratio;  /* of its time to the best on its GPU; 0: it has no time, or is kept anyway */
    double racing; /* the ratio above which a race leaves it out; 0: there is no race */
    candidate_ragged ragged;
    bool leads;      /* it is the fastest */
    bool gains;      /* it is faster by more than noise than the last leader that was checked */
    bool has_proof;  /* or one has begun */
    size_t faster;   /* candidates for the race that are faster */
    size_t entrants; /* that a race would sample that begins soon; 0: none does */
    bool checks;     /* the leader's check is wanted */
    bool cores_idle; /* neither compiling nor proving takes all */
    bool compilers_idle;
} next_facts;

/* The first row that holds decides. "Suspected": the candidate shares parameter values that, of all
 * variants that were tried, only variants that hung have (run/variant/hangs.h).
 *
 *   stage     the candidate                      the run                         next
 *   NEW       suspected                                                          REJECT_HANGING
 *             else                                                               COMPILE
 *   WAITING   suspected                                                          REJECT_HANGING
 *             else                                                               TRY
 *   FINISHED  has code; failed, or too slow      no race at all, or this one     DROP_CODE
 *             failed                                                             WAIT
 *             leads by more than noise, and      wants its leader checked        CHECK
 *             was not checked on ragged problems
 *             leads, is checked, not proven      the same, and cores are idle    PROVE
 *             one of the fastest, not compiled   a race is near, and compile     PREPARE
 *             for ragged problems                workers are idle
 *             else                                                               WAIT
 *   others                                                                       WAIT
 *
 * Without REJECT_HANGING each variant that hangs costs a run the watchdog's time, which is seconds.
 * Without CHECK and PROVE an interrupted run has nothing to record. Without PREPARE a race
 * waits for its compilers. Beside this rule a device leaves a variant after its first launch by
 * next_limit_ns(), so that no variant costs more than one launch that cannot win. */
next_step candidate_next(const next_facts *f);

/* The time of a first launch that shows that a variant cannot be the fastest, in ns. `best_ns`: the
 * fastest sample on that GPU; 0: there is none, and no limit, 0. */
int64_t next_limit_ns(int64_t best_ns);

#endif
