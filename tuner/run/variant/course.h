/* The rule for a candidate's next step, the state of the pipeline, and the functions that move
 * candidates between stages. pipeline.c submits sources for compilation, trying.c tries candidates
 * on devices, course.c applies the rule and finishes candidates. No other file includes this
 * header. */
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
 * The only rule of a run for a candidate's next step. Input: facts about the candidate and the run.
 * The pipeline applies the rule first to the candidate that was added first. */
typedef enum next_step {
    NEXT_WAIT, /* do nothing until a fact changes */
    NEXT_COMPILE,
    NEXT_TRY,
    NEXT_REJECT_HANGING, /* finish the candidate untried, because it is likely to hang */
    NEXT_DROP_CODE,      /* free the candidate's machine code */
    NEXT_CHECK,          /* compile the candidate for its ragged problems, and check it on these */
    NEXT_PROVE,
    NEXT_PREPARE /* compile the candidate for its ragged problems, so that a race finds the code */
} next_step;

typedef struct next_facts {
    candidate_stage stage;

    /* facts before the try */
    bool likely_hangs;

    /* facts after the try */
    bool works, has_code;
    double ratio;  /* the candidate's time over the best time on its GPU; 0 if it has no time or is
                    * kept anyway */
    double racing; /* ratio above which a race leaves the candidate out; 0 if no race follows */
    candidate_ragged ragged;
    bool leads;      /* the candidate is the fastest */
    bool gains;      /* the candidate is faster than the last checked leader by more than noise */
    bool has_proof;  /* the candidate's proof has begun or ended */
    size_t faster;   /* number of faster candidates that may race */
    size_t entrants; /* entrants of a race that begins soon; 0 if no race is near */
    bool checks;     /* the leader's check is wanted */
    bool proof_pays; /* no proof runs, and a core is idle or the leader is likely to win */
    bool compilers_idle;
} next_facts;

/* The first row that applies decides. A candidate is "suspected" if it has parameter values that
 * were common to several hung variants and to no variant that ended (run/variant/hangs.h).
 *
 *   stage     the candidate                      the run                         next
 *   NEW       suspected                                                          REJECT_HANGING
 *             else                                                               COMPILE
 *   WAITING   suspected                                                          REJECT_HANGING
 *             else                                                               TRY
 *   FINISHED  has code                           has no race                     DROP_CODE
 *             has code; failed, or too slow      any                             DROP_CODE
 *             failed                                                             WAIT
 *             leads by more than noise, and      wants its leader checked        CHECK
 *             was not checked on ragged problems
 *             leads, is checked, not proven      the same, and no proof runs;    PROVE
 *                                                cores are idle, or it has led
 *                                                for half of the variants
 *             one of the fastest, not compiled   a race is near, and compile     PREPARE
 *             for ragged problems                workers are idle
 *             else                                                               WAIT
 *   others                                                                       WAIT
 *
 * Without REJECT_HANGING each hang costs the watchdog's time, which is seconds. Without CHECK and
 * PROVE an interrupted run has nothing to record. Without PREPARE a race waits for its compilers. A
 * device also leaves a variant whose first launch exceeds next_limit_ns(). */
next_step candidate_next(const next_facts *f);

/* Returns the time of a first launch, in ns, above which a variant cannot be the fastest. `best_ns`
 * is the fastest sample on that GPU; if it is 0 there is no limit and the result is 0. */
int64_t next_limit_ns(int64_t best_ns);

/* ---- the pipeline's state ---- */

enum {
    TRYING_QUEUE = 4
}; /* requests in flight to a device, so that it never waits for the tuner */

/* Writes outcomes to the journal, and finds outcomes of an interrupted run. */

typedef struct variant_log { /* all pointers are borrowed */
    journal *journal;        /* may be NULL */
    session *session;
    const gpus *gpus;
    size_t samples;    /* number of samples that an entry must have */
    uint16_t *indices; /* scratch, room for one configuration */
    at_error *trouble; /* receives the journal's error */
} variant_log;

/* Only course_move() changes a stage. A candidate enters `finished` once, when its outcome is
 * known. At most one candidate at a time is checked after its first samples. */
struct pipeline {
    session *session;
    pipeline_options options;
    variant_log log;
    candidates table;
    twins twins;
    hangs hangs;
    gpus gpus;         /* without a device, no GPU is ready */
    uint16_t *indices; /* scratch, room for one configuration */
    int64_t start_ns;
    pipeline_state state;

    bool abandoned; /* no more candidates go to a device */

    /* No candidate before first_waiting is WAITING. WAITING candidates hold compiled_bytes of
     * code. */
    size_t first_waiting, compiled_bytes;
    size_t tries; /* number of tries that devices have answered */

    candidate **finished; /* in the order of finishing; owned */
    size_t finished_count;
    size_t taken; /* number of `finished` that pipeline_take() has returned */

    /* set by pipeline_expect_race() */
    size_t entrants;
    bool checks_leader;
    uint64_t prepared_at; /* state.finished when no candidate was left to compile for the race */

    uint64_t led_from;   /* state.finished when the leader took the lead */
    candidate *checked;  /* the latest leader that passed on all its problems; may be NULL */
    candidate *checking; /* the candidate that is checked on its ragged problems; may be NULL */
    size_t check_gpu;    /* the GPU that checks it, if it is CHECKING */
};

void course_move(pipeline *p, candidate *c, candidate_stage to);

/* Returns the number of candidates that wait for compile results. */
size_t course_compiling(const pipeline *p);

next_step course_next(const pipeline *p, const candidate *c);

/* Finishes a candidate (OUTCOME_REJECTED) that is likely to hang, without trying it. */
void course_reject(pipeline *p, candidate *c);

/* Returns the candidate that a device tries next: the WAITING candidate that was added first.
 * Finishes earlier candidates that are likely to hang. Returns NULL if no candidate waits. */
candidate *course_next_waiting(pipeline *p);

/* Returns true if a twin or the journal has a candidate's outcome, so that it needs no
 * compilation. */
bool course_recognise(pipeline *p, candidate *c);

/* Handles a candidate whose last compile result arrived: it waits for a device or follows its twin.
 * A candidate with an outcome is finished or is checked next. */
void course_compiled(pipeline *p, candidate *c);

/* Lets a candidate wait for a device. Keeps its machine code until a device takes it. */
void course_queue(pipeline *p, candidate *c);

/* Finishes a candidate with an outcome, and the candidates that follow it. */
void course_finish(pipeline *p, candidate *c);

/* Returns the launch time above which a candidate is too slow on its GPU, or 0 (no limit). */
int64_t course_too_slow_ns(const pipeline *p, const candidate *c);

/* Writes the result of a later check or proof to the journal. A candidate that is wrong no longer
 * leads, and its time no longer counts as the best. */
void course_keep_check(pipeline *p, candidate *c, const char *check);

/* Finds a new leader if the leader turned out to be wrong. */
void course_settle_leader(pipeline *p);

/* Ends the check on ragged problems of p->checking, and keeps its result. */
void course_end_check(pipeline *p);

/* Takes all events of a device and gives it work. Sets *moved to true if there was an event.
 * Returns AT_NOT_FOUND if there are no more events, AT_DEVICE or AT_NO_DEVICE if the last device is
 * lost for good. */
at_status trying_drain(pipeline *p, size_t from, bool *moved, at_error *error);

/* Notes the GPU that measures or measured the candidate, and sets its key from c->source. */
void variant_log_put_on(const variant_log *log, candidate *c, size_t gpu_number);

/* Writes the outcome of a candidate to the journal. */
void variant_log_keep(variant_log *log, const candidate *c);

#endif
