/* The pipeline: configurations through emit, compile, check and first samples.
 *
 * In: configurations of the session's space. Out: candidates with an outcome, in the order in which
 * they finish. Compiling runs ahead of the device by a bounded amount; the device always has a few
 * requests queued. With a session that has no device a candidate is finished once compiled. */
#ifndef AUTOTUNE_RUN_VARIANT_PIPELINE_H
#define AUTOTUNE_RUN_VARIANT_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "journal/journal.h"
#include "run/setup/session.h"
#include "run/variant/variant.h"

typedef struct pipeline pipeline;

typedef struct pipeline_state { /* for progress and the summary */
    bool device_ready;
    device_ready ready;     /* of the device, once it is */
    int64_t ceiling_ns;     /* median of the set-up's copies */
    uint64_t finished;
    uint64_t resumed;       /* of them, answered from the journal */
    uint64_t twins;         /* of them, those another stands for: they took what became of it */
    int64_t emit_ns, compile_ns, check_ns, measure_ns; /* summed over variants */
    int64_t setup_ns;       /* from pipeline_new() until the device was ready */
    int restarts;           /* of the device workers */
    size_t lost;            /* GPUs that are gone for good */
    char lost_why[256];     /* the latest */
    at_error journal_trouble; /* why the journal ended early; clear when it did not */
} pipeline_state;

/* `samples`: first samples a variant (DEVICE_MAX_SAMPLES at most). `log` may be NULL. The session
 * and the journal are borrowed. */
at_status pipeline_new(session *s, journal *log, size_t samples, pipeline **out, at_error *error);
void pipeline_free(pipeline *p); /* NULL is fine; candidates go with it */

/* How many configurations it would take now without running further ahead than is useful. */
size_t pipeline_room(const pipeline *p);

/* Room for as many as pay off to compile at once: for a search whose next step does not depend on what is
 * under way. */
void pipeline_look_far_ahead(pipeline *p);

/* From now on variants are compiled for and checked on the tuned problem alone; on the ragged ones those that a
 * race wants (pipeline_recompile), when they are loaded. It halves the compiling where most are too slow to race. */
void pipeline_defer_ragged(pipeline *p);

/* Starts a configuration. */
at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error);

/* Starts again what is left of a candidate whose machine code was dropped, or is not there yet for its ragged
 * problems: compiles that and leaves the outcome as it is, unless it does not compile. It is ready when
 * nothing is in flight. */
at_status pipeline_recompile(pipeline *p, candidate *c, at_error *error);

/* Configurations started and not finished; not counted are those whose twin is. */
size_t pipeline_in_flight(const pipeline *p);

/* Time is up: what was compiled and still waits for the device will not be tried. It has no outcome
 * and is not taken. */
void pipeline_abandon_queue(pipeline *p);

/* Moves everything that can move; waits up to `timeout_ms` when nothing can. AT_DEVICE or
 * AT_NO_DEVICE when the device is gone for good. */
at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error);

/* Of several GPUs the one that runs the race (candidate.gpu); it changes when that one is lost. */
size_t pipeline_home(const pipeline *p);

/* The fastest sample on the GPU that measured the candidate; 0: none. */
int64_t pipeline_best_ns(const pipeline *p, const candidate *c);

/* What a candidate's fastest sample is likely to be at home; 0: there is none. For a search alone. */
double pipeline_likely_ns(const pipeline *p, const candidate *c);

/* Its fastest sample as home's race is to take it (gpus_prior_ns); 0: there is none. */
int64_t pipeline_prior_ns(const pipeline *p, const candidate *c);

/* The next finished candidate, each once; NULL when there is none yet. */
candidate *pipeline_take(pipeline *p);

/* From now on variants can be proven by this prover, which uses the session's pool. Borrowed. */
void pipeline_prove_with(pipeline *p, prover *with);

/* Has a candidate proven, once; nothing happens without a prover. */
at_status pipeline_prove(pipeline *p, candidate *c, at_error *error);

/* The next candidate whose proof is done, judged (candidate_judge); NULL when there is none yet. */
candidate *pipeline_take_proof(pipeline *p);

/* Moves proofs and compilations alone, while the device answers something else; waits up to
 * `timeout_ms` when nothing can. */
at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error);

/* Twins take what became of those that stand for them, which depends no more on the order in which they were
 * tried: `preferred` (may be NULL) and else the lowest configurations do. Before a race, and after it. */
void pipeline_settle_twins(pipeline *p, const candidate *preferred);

/* All candidates so far. */
const candidates *pipeline_candidates(const pipeline *p);

const pipeline_state *pipeline_get_state(const pipeline *p);

#endif
