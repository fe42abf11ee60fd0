/* The course of candidates: the state of the pipeline, and everything that moves a candidate from
 * one stage to another. pipeline.c has sources compiled, trying.c has devices try what is compiled,
 * course.c asks the rule (next.h) and finishes candidates. No other file includes this. */
#ifndef AUTOTUNE_RUN_VARIANT_COURSE_H
#define AUTOTUNE_RUN_VARIANT_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "journal/journal.h"
#include "run/setup/session.h"
#include "run/setup/workers.h"
#include "run/variant/pipeline.h"
#include "run/variant/variant.h"

/* ---- the rule ----
 *
 * What a candidate gets next: the one rule of a run.
 *
 * In: facts about a candidate and about the run. Out: one step. candidate_next() has the rule. The
 * pipeline says which candidate is asked about first: the one that was added first. */
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

/* ---- the pipeline's state ---- */

enum { TRYING_QUEUE = 4 }; /* requests in flight: the device never waits for the tuner */

/* Candidates in the journal: what was measured of one is kept, and found again by a run that
 * resumes. */

typedef struct variant_log { /* everything is borrowed */
    journal *journal;        /* NULL: nothing is kept or found */
    session *session;
    const gpus *gpus;
    size_t samples;    /* that an entry must have */
    uint16_t *indices; /* scratch: one configuration */
    at_error *trouble; /* gets why the journal refused an entry */
} variant_log;

/* Only course_move() changes a candidate's stage. A candidate enters `finished` once, when its
 * outcome is known, and may be compiled again for the race after that. At most one candidate is
 * being checked apart from its first samples. */
struct pipeline {
    session *session;
    pipeline_options options;
    variant_log log;
    candidates table;
    twins twins;
    hangs hangs;
    gpus gpus;         /* none of them ready without a device */
    uint16_t *indices; /* scratch: one configuration */
    int64_t start_ns;
    uint32_t lane; /* of the trace */
    pipeline_state state;

    bool abandoned; /* nothing more goes to the device */

    /* No candidate before the place first_waiting waits for a device; those that are WAITING have
     * compiled_bytes of machine code. */
    size_t first_waiting, compiled_bytes;
    size_t tries; /* that devices answered */

    candidate **finished; /* owned; in the order in which they finished */
    size_t finished_count;
    size_t taken; /* of these, the first ones: they were handed out */

    /* pipeline_expect_race() */
    size_t entrants;
    bool checks_leader;
    uint64_t prepared_at; /* finished when there was nobody to compile for the race */

    candidate *checked;  /* the latest leader that was right on all its problems; NULL: none */
    candidate *checking; /* on its ragged problems, apart from its first samples; NULL: none */
    size_t check_gpu;    /* that is at it, once it is CHECKING */
};

void course_move(pipeline *p, candidate *c, candidate_stage to);

/* The number of those that are with the compile workers. */
size_t course_compiling(const pipeline *p);

/* Asks the rule. */
next_step course_next(const pipeline *p, const candidate *c);

/* Finishes a candidate (OUTCOME_REJECTED) that is likely to hang, without trying it. */
void course_reject(pipeline *p, candidate *c);

/* Returns the candidate that a device tries next: the one that was asked for first. Finishes those
 * before it that are likely to hang. Returns NULL if none waits. */
candidate *course_next_waiting(pipeline *p);

/* Does it need no compiling, because its twin was met or the journal knows it? Then it follows its
 * twin, or is finished. What an interrupted run measured of a variant's twin holds for it, too. */
bool course_recognise(pipeline *p, candidate *c);

/* All of it is compiled that was to be: now it waits for a device, or follows its twin. One that
 * had its outcome before, and was compiled again, is finished or due for its check. */
void course_compiled(pipeline *p, candidate *c);

/* It waits for a device. Its machine code stays until it is taken from there. */
void course_queue(pipeline *p, candidate *c);

/* It has its outcome, and so have those that follow it. */
void course_finish(pipeline *p, candidate *c);

/* The time of a launch that is too slow on its GPU; 0: none is. */
int64_t course_too_slow_ns(const pipeline *p, const candidate *c);

/* Keeps what a check or a proof found after the outcome. A wrong variant leads no longer, and no
 * longer tells how fast the others are. */
void course_keep_check(pipeline *p, candidate *c, const char *check);

/* Looks for the leader anew if it turned out to be wrong. */
void course_settle_leader(pipeline *p);

/* The check of p->checking has ended. */
void course_end_check(pipeline *p);

/* Takes every event of a device that is there, and feeds it. AT_NOT_FOUND: no more. AT_DEVICE or
 * AT_NO_DEVICE: the last one is lost for good. */
at_status trying_drain(pipeline *p, size_t from, bool *moved, at_error *error);

/* Says which GPU measures the candidate, or did, and so what its key is, by c->source. */
void variant_log_put_on(const variant_log *log, candidate *c, size_t gpu_number);

/* Writes the candidate's outcome. */
void variant_log_keep(variant_log *log, const candidate *c);

#endif
