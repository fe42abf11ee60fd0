/* The pipeline: takes configurations through emission, compilation, check and first samples
 * (stages: variant.h; rule for the next step: course.h).
 *
 * Input: configurations of the session's space. Output: candidates in the order of their outcomes.
 * Compilation runs ahead by a bounded amount, so that the device always has a few requests queued.
 * In a session without a device, a compiled candidate is finished. */
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
    journal *journal;     /* journal of outcomes; may be NULL */
    prover *prover;       /* prover, with the session's pool; may be NULL */
    size_t samples;       /* first samples of a variant, DEVICE_MAX_SAMPLES at most */
    const uint64_t *kept; /* the configuration that is tried however slow it is; may be NULL */
    double racing; /* ratio to the best time above which a race leaves a variant out; 0 if no race
                      follows, so that every variant is checked and sampled */
    bool is_blind; /* the search does not learn: it asks for many at once */
    /* Variants are compiled for ragged problems only when a race wants them, which halves
     * compilation. The first `whole` variants are compiled for all problems and proven at once. */
    bool defers_ragged;
    size_t whole;
} pipeline_options;

typedef struct pipeline_state { /* state for the search, the progress line and the summary */
    bool device_ready;
    device_ready ready; /* facts of the device, if device_ready */
    size_t home;        /* the GPU that runs the race (candidate.gpu); changes if it is lost */
    int64_t ceiling_ns; /* median time of the set-up's copies */
    candidate *leader;  /* fastest candidate that works; may turn out wrong; may be NULL */
    uint64_t finished;  /* number of finished candidates */
    uint64_t resumed;   /* finished candidates whose outcome the journal had */
    uint64_t twins;     /* finished candidates that took the outcome of a twin */
    uint64_t failed;    /* finished candidates that do not work */
    uint64_t left_out;  /* finished candidates that were not tried, because others hung */
    hang_cause hang;    /* the latest cause, if left_out or all_hang is set */
    bool all_hang;      /* every configuration is likely to hang */
    int64_t emit_ns, compile_ns, check_ns, measure_ns; /* sums over all variants */
    int64_t setup_ns;         /* time from pipeline_new() until the device was ready */
    int restarts;             /* restarts of the device workers */
    size_t lost;              /* GPUs that were lost for good */
    char lost_why[256];       /* the latest reason for a loss */
    at_error journal_trouble; /* reason why the journal ended early, if it did */
} pipeline_state;

/* Borrows the session. */
pipeline *pipeline_new(session *s, const pipeline_options *o);
void pipeline_free(pipeline *p); /* `p` may be NULL. Frees the candidates, too. */

/* Returns how many more configurations the pipeline can take without running too far ahead. */
size_t pipeline_room(const pipeline *p);

at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error);

/* Compiles a candidate's missing code: dropped code and, if `ragged` is true, the code for its
 * ragged problems. The outcome stays unless compilation fails. The code is ready once c->parts is
 * 0. */
at_status pipeline_recompile(pipeline *p, candidate *c, bool ragged, at_error *error);

/* Announces a race of `entrants` candidates (0 if no race is near): idle workers compile likely
 * entrants for their ragged problems. If `checks_leader` is true, the leader is checked on its
 * ragged problems and proven during the search. */
void pipeline_expect_race(pipeline *p, size_t entrants, bool checks_leader);

/* Abandons candidates that compile or wait for a device: pipeline_take() never returns them. */
void pipeline_abandon_queue(pipeline *p);

/* Counts candidates that compile, wait for a device or are on one, except followers of a twin. */
size_t pipeline_in_flight(const pipeline *p);

/* Advances all candidates that can advance. If none can, waits up to `timeout_ms`. Returns
 * AT_DEVICE or AT_NO_DEVICE if the device is lost for good. */
at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error);

/* Advances only proofs and compilation, while the device does other work. */
at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error);

/* Returns the next finished candidate, each once, or NULL. */
candidate *pipeline_take(pipeline *p);

/* Begins a missing proof, before all others if `hurry`. Does nothing without a prover. */
at_status pipeline_prove(pipeline *p, candidate *c, bool hurry, at_error *error);

/* Returns the next candidate with a decided proof, after candidate_judge(), or NULL. If `keeps` is
 * true, writes a rejection to the journal, so that a resumed run races the same candidates. */
candidate *pipeline_take_proof(pipeline *p, bool keeps);

/* Gives twins the outcome of their representative (twins_elect()), before and after a race. */
void pipeline_settle_twins(pipeline *p, const candidate *preferred);

/* Estimates a candidate's fastest sample on the home GPU, to guide a search; 0 without a sample. */
double pipeline_likely_ns(const pipeline *p, const candidate *c);

/* Returns a candidate's fastest sample on the scale of the home GPU (gpus_prior_ns), or 0. */
int64_t pipeline_prior_ns(const pipeline *p, const candidate *c);

/* Writes the ready other GPUs (borrowed) to out[WORKERS_MOST_OTHERS]. Returns their number. */
size_t pipeline_ready_others(const pipeline *p, device_worker **out);

/* Return the candidates, and the state; the pipeline owns both. */
const candidates *pipeline_candidates(const pipeline *p);
const pipeline_state *pipeline_get_state(const pipeline *p);

#endif
