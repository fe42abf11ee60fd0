/* The pipeline: takes configurations through emit, compile, check and first samples. variant.h has
 * the table of the stages, next.h the rule that says what a candidate gets next.
 *
 * In: configurations of the session's space. Out: candidates with an outcome, in the order in which
 * they finish. Compiling runs ahead of the device by a bounded amount; the device always has a few
 * requests queued. If the session has no device, a candidate is finished once it is compiled. */
#ifndef AUTOTUNE_RUN_VARIANT_PIPELINE_H
#define AUTOTUNE_RUN_VARIANT_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "journal/journal.h"
#include "run/setup/session.h"
#include "run/variant/hangs.h"
#include "run/variant/variant.h"

typedef struct pipeline pipeline;

/* How the run searches. Pointers are borrowed. */
typedef struct pipeline_options {
    journal *journal;     /* NULL: outcomes are neither kept nor found */
    prover *prover;       /* proves variants, with the session's pool; NULL: nothing is proven */
    size_t samples;       /* first samples of a variant, DEVICE_MAX_SAMPLES at most */
    const uint64_t *kept; /* the configuration that is tried however slow it is; NULL: none */
    double racing;        /* a race leaves out what takes so many times the best time; 0: no race
                             follows, and every variant is checked and sampled */
    bool is_blind;        /* the search does not learn, and asks for many at once */
    /* Variants are compiled for and checked on their ragged problems when a race wants them, but
     * for the first `whole`, which are also proven. This halves the compiling where most variants
     * are too slow to race. */
    bool defers_ragged;
    size_t whole;
} pipeline_options;

typedef struct pipeline_state { /* for the search, progress and the summary */
    bool device_ready;
    device_ready ready; /* of the device, once it is */
    size_t home; /* the GPU that runs the race (candidate.gpu); another if that one is lost */
    int64_t ceiling_ns; /* median of the set-up's copies */
    candidate *leader;  /* the fastest that works; NULL: none. It may turn out to be wrong. */
    uint64_t finished;  /* candidates */
    uint64_t resumed;   /* of them, answered from the journal */
    uint64_t twins;     /* of them, those that took the outcome of another, which stands for them */
    uint64_t failed;    /* of them, those that did not work, or turned out to be wrong */
    uint64_t left_out;  /* of them, those that were not tried because others hung */
    hang_cause hang;    /* while `left_out` or `all_hang`: the latest cause */
    bool all_hang;      /* whatever is asked for is likely to hang */
    int64_t emit_ns, compile_ns, check_ns, measure_ns; /* summed over variants */
    int64_t setup_ns;         /* from pipeline_new() until the device was ready */
    int restarts;             /* of the device workers */
    size_t lost;              /* GPUs that were lost for good */
    char lost_why[256];       /* the latest */
    at_error journal_trouble; /* why the journal ended early; clear when it did not */
} pipeline_state;

/* The session is borrowed. */
pipeline *pipeline_new(session *s, const pipeline_options *o);
void pipeline_free(pipeline *p); /* NULL is fine; candidates go with it */

/* How many more configurations it can take without running further ahead than is useful. */
size_t pipeline_room(const pipeline *p);

/* Starts a configuration. */
at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error);

/* Compiles what is missing of a candidate: its machine code was dropped, or, if `ragged`, does not
 * exist yet for its ragged problems. The outcome stays, unless it does not compile. The candidate
 * is ready when nothing is in flight. */
at_status pipeline_recompile(pipeline *p, candidate *c, bool ragged, at_error *error);

/* Says from now on how many candidates a race would sample that begins soon (0: none does), which
 * idle workers compile for their ragged problems; and whether the leader is to be checked on these
 * and proven while the search goes on. Neither is before the first call. */
void pipeline_expect_race(pipeline *p, size_t entrants, bool checks_leader);

/* Abandons the candidates that are being compiled or wait for a device, because time is up: they
 * get no outcome and are not returned. */
void pipeline_abandon_queue(pipeline *p);

/* How many candidates are in flight: with the compilers, with a device or waiting for one, also for
 * a check. Those that follow a twin do not count. */
size_t pipeline_in_flight(const pipeline *p);

/* Advances whatever can advance; if nothing can, waits up to `timeout_ms`. AT_DEVICE or
 * AT_NO_DEVICE if the device is lost for good. */
at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error);

/* Advances proofs and compilations alone, while the device works on something else; if nothing can
 * advance, waits up to `timeout_ms`. */
at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error);

/* The next finished candidate; each is returned once. NULL: none yet. */
candidate *pipeline_take(pipeline *p);

/* Starts a proof of a candidate, unless it has one. `hurry`: it goes before the others. Does
 * nothing without a prover. */
at_status pipeline_prove(pipeline *p, candidate *c, bool hurry, at_error *error);

/* The next candidate whose proof is done and judged (candidate_judge); NULL: none yet. `keeps`: the
 * journal keeps that it was rejected as wrong, as is due before the race of those that are left. */
candidate *pipeline_take_proof(pipeline *p, bool keeps);

/* Gives twins the outcome of the candidate that stands for them, independent of the order in which
 * they were tried: `preferred` (may be NULL) stands for its class, else the lowest configuration.
 * Called before a race and after it. */
void pipeline_settle_twins(pipeline *p, const candidate *preferred);

/* The likely value of a candidate's fastest sample on the home GPU; 0: there is none. It only
 * guides a search. */
double pipeline_likely_ns(const pipeline *p, const candidate *c);

/* A candidate's fastest sample as the race at home takes it (gpus_prior_ns); 0: there is none. */
int64_t pipeline_prior_ns(const pipeline *p, const candidate *c);

/* The other GPUs that could sample now: ready and not lost. Returns how many `out` got, which has
 * room for WORKERS_MOST_OTHERS; the workers are borrowed. */
size_t pipeline_ready_others(const pipeline *p, device_worker **out);

/* All candidates so far. */
const candidates *pipeline_candidates(const pipeline *p);

const pipeline_state *pipeline_get_state(const pipeline *p);

#endif
