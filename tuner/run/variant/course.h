/* The course of candidates: everything that moves a candidate from one stage to another, and the
 * state of the pipeline. The table of the stages is in stage.h.
 *
 * pipeline.c has sources compiled, trying.c has devices try what is compiled; both move candidates
 * on by what is declared here, and no other file includes this. */
#ifndef AUTOTUNE_RUN_VARIANT_COURSE_H
#define AUTOTUNE_RUN_VARIANT_COURSE_H

#include "run/setup/gpus.h"
#include "run/variant/pipeline.h"
#include "run/variant/twins.h"
#include "run/variant/variant_log.h"

/* Only course_move() changes a candidate's stage. A candidate enters `finished` once, when its
 * outcome is known, and may be compiled again for the race after that. At most one candidate is
 * being checked apart from its first samples. */
struct pipeline {
    session *session;
    variant_log log;
    prover *prover; /* or NULL */
    candidates table;
    twins twins;
    hangs hangs;
    struct hangs slow; /* the same of those that are far slower than the best */
    int64_t slow_ns;   /* that devices spent on such */
    gpus gpus;         /* none of them ready without a device */
    uint16_t *indices; /* scratch: one configuration */
    int64_t start_ns;
    uint32_t lane; /* of the trace */
    pipeline_state state;

    /* Wishes, which the functions of these names take (pipeline.h). */
    bool far_ahead, defers, leaves_slow, slow_last;
    uint64_t kept;  /* the configuration that is tried in any case, however slow */
    bool abandoned; /* nothing more goes to the device */

    /* No candidate before the place first_waiting waits for a device; those after it that are
     * WAITING have compiled_bytes of machine code. */
    size_t first_waiting, compiled_bytes;
    size_t tries; /* that devices answered */

    candidate **finished; /* owned; in the order in which they finished */
    size_t finished_count;
    size_t taken;         /* of these, the first ones: they were handed out */
    uint64_t prepared_at; /* finished when pipeline_prepare_race() had nothing left to do */

    candidate *checking; /* on its ragged problems, apart from its first samples; NULL: none */
    size_t check_gpu;    /* that is at it, once it is CHECKING */
};

void course_move(pipeline *p, candidate *c, candidate_stage to);

/* The number of those that are with the compile workers. */
size_t course_compiling(const pipeline *p);

/* Is it likely to hang as others did? Then it is finished (OUTCOME_REJECTED) without being tried.
 */
bool course_leave_out(pipeline *p, candidate *c);

/* Is it likely to be far slower than the best, and have such variants had their share of the time?
 * Then it is finished (OUTCOME_REJECTED) without being tried. */
bool course_leave_slow_out(pipeline *p, candidate *c);

/* Does it take many times as long as the best? */
bool course_is_far_slower(const pipeline *p, const candidate *c);

/* Does it need no compiling, because its twin was met or the journal knows it? Then it follows its
 * twin, or is finished. What an interrupted run measured of a variant's twin holds for it, too. */
bool course_recognise(pipeline *p, candidate *c);

/* All of it is compiled that was to be: now it waits for a device, or follows its twin. One that
 * had its outcome before, and was compiled again, is finished or due for its check. */
void course_compiled(pipeline *p, candidate *c);

/* It waits for a device. Its machine code stays until it is taken from there. */
void course_queue(pipeline *p, candidate *c);

/* The candidate that was asked for first among those that wait for a device, whatever compiled
 * first; those that are likely to be far slower than the best come when nothing is compiled any
 * more. NULL: none waits, or such alone. */
candidate *course_first_waiting(pipeline *p);

/* It has its outcome, and so have those that follow it. */
void course_finish(pipeline *p, candidate *c);

/* The time of a launch that is too slow on its GPU; 0: none is. */
int64_t course_too_slow_ns(const pipeline *p, const candidate *c);

/* Its time may be the best of its GPU. */
void course_note_time(pipeline *p, const candidate *c);

/* Keeps what a check or a proof found after the outcome. A wrong variant no longer tells how fast
 * the others are. */
void course_keep_check(pipeline *p, candidate *c, const char *check);

/* The check of p->checking has ended. */
void course_end_check(pipeline *p);

#endif
