/* The pipeline: takes configurations through emit, compile, check and first samples. stage.h has
 * the table of the stages.
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

typedef struct pipeline_state { /* for progress and the summary */
    bool device_ready;
    device_ready ready; /* of the device, once it is */
    int64_t ceiling_ns; /* median of the set-up's copies */
    uint64_t finished;
    uint64_t resumed; /* of them, answered from the journal */
    uint64_t twins;   /* of them, those that took the outcome of another, which stands for them */
    uint64_t
        left_out; /* of them, those that were not tried because others hung (run/variant/hangs.h) */
    hang_cause hang; /* while `left_out` or `all_hang`: the latest cause */
    bool all_hang;   /* whatever is asked for is likely to hang */
    int64_t emit_ns, compile_ns, check_ns, measure_ns; /* summed over variants */
    int64_t setup_ns;         /* from pipeline_new() until the device was ready */
    int restarts;             /* of the device workers */
    size_t lost;              /* GPUs that were lost for good */
    char lost_why[256];       /* the latest */
    at_error journal_trouble; /* why the journal ended early; clear when it did not */
} pipeline_state;

/* `samples`: first samples a variant (DEVICE_MAX_SAMPLES at most). `log` may be NULL. The session
 * and the journal are borrowed. */
pipeline *pipeline_new(session *s, journal *log, size_t samples);
void pipeline_free(pipeline *p); /* NULL is fine; candidates go with it */

/* How many more configurations it can take without running further ahead than is useful. */
size_t pipeline_room(const pipeline *p);

/* Makes room for as many configurations as are worth compiling at once: for a search whose next
 * step does not depend on those in flight. */
void pipeline_look_far_ahead(pipeline *p);

/* Compiles and checks variants for the tuned problem alone from now on. Those that a race wants
 * (pipeline_recompile) are checked on the ragged problems when they are loaded, others by
 * pipeline_check(). This halves the compiling where most variants are too slow to race. */
void pipeline_defer_ragged(pipeline *p);

/* Leaves variants unchecked (OUTCOME_TOO_SLOW) whose first launch shows that they cannot be the
 * fastest, from now on: for a search that ends in a race. `but`: a configuration that is tried in
 * any case; UINT64_MAX: none. */
void pipeline_leave_slow(pipeline *p, uint64_t but);

/* Tries last, from now on, what has parameter values in common that only variants have that take
 * ten times the best time; and not at all (OUTCOME_REJECTED) once these have taken a third of the
 * time. For a search that tries the whole space, whatever it finds. */
void pipeline_put_slow_last(pipeline *p);

/* Starts a configuration. */
at_status pipeline_add(pipeline *p, uint64_t configuration, at_error *error);

/* Compiles what is missing of a candidate: its machine code was dropped, or does not exist yet for
 * its ragged problems. The outcome stays, unless it does not compile. The candidate is ready when
 * nothing is in flight. */
at_status pipeline_recompile(pipeline *p, candidate *c, at_error *error);

/* The same, without ragged problems that it has not been compiled for yet. */
at_status pipeline_restore(pipeline *p, candidate *c, at_error *error);

/* Compiles a finished candidate for the ragged problems that were deferred, before what else is to
 * be compiled, and checks it on them while the search goes on. It passes (RAGGED_PASSED) or its
 * outcome changes, which the journal keeps either way. Does nothing while another is being
 * checked. */
at_status pipeline_check(pipeline *p, candidate *c, at_error *error);
const candidate *pipeline_checking(const pipeline *p); /* NULL: none */

/* Has idle compile workers compile the `most` fastest candidates so far for their ragged problems:
 * to be called when there is nothing more to search and the device still works. */
at_status pipeline_prepare_race(pipeline *p, size_t most, at_error *error);

/* How many candidates are in flight: with the compilers, with a device or waiting for one, also for
 * a check. Those that follow a twin do not count. */
size_t pipeline_in_flight(const pipeline *p);

/* Abandons the candidates that are being compiled or wait for a device, because time is up: they
 * get no outcome and are not returned. */
void pipeline_abandon_queue(pipeline *p);

/* Advances whatever can advance; if nothing can, waits up to `timeout_ms`. AT_DEVICE or
 * AT_NO_DEVICE if the device is lost for good. */
at_status pipeline_step(pipeline *p, int timeout_ms, at_error *error);

/* The other GPUs that could sample now: ready, and not lost. Returns how many
 * `out` got, which has room for WORKERS_MOST_OTHERS; the workers are borrowed. */
size_t pipeline_ready_others(const pipeline *p, device_worker **out);

/* The GPU that runs the race (candidate.gpu); it changes when that one is lost. */
size_t pipeline_home(const pipeline *p);

/* The fastest sample on the GPU that measured the candidate; 0: none. */
int64_t pipeline_best_ns(const pipeline *p, const candidate *c);

/* The likely value of a candidate's fastest sample on the home GPU; 0: there is none. It only
 * guides a search. */
double pipeline_likely_ns(const pipeline *p, const candidate *c);

/* A candidate's fastest sample as the race at home takes it (gpus_prior_ns); 0: there is none. */
int64_t pipeline_prior_ns(const pipeline *p, const candidate *c);

/* The next finished candidate; each is returned once. NULL: none yet. */
candidate *pipeline_take(pipeline *p);

/* Lets variants be proven by this prover from now on, which uses the session's pool. Borrowed. */
void pipeline_prove_with(pipeline *p, prover *with);

/* Starts a proof of a candidate, unless it has one. Does nothing without a prover. */
at_status pipeline_prove(pipeline *p, candidate *c, at_error *error);

/* A proof that was started goes before the others. */
void pipeline_hurry_proof(pipeline *p, const candidate *c);

/* The next candidate whose proof is done and judged (candidate_judge); NULL: none yet. */
candidate *pipeline_take_proof(pipeline *p);

/* Keeps in the journal that a proof convicted the candidate, before the race of those that are
 * left. */
void pipeline_keep_conviction(pipeline *p, candidate *c);

/* Advances proofs and compilations alone, while the device works on something else; if nothing can
 * advance, waits up to `timeout_ms`. */
at_status pipeline_watch_proofs(pipeline *p, int timeout_ms, at_error *error);

/* Gives twins the outcome of the candidate that stands for them, independent of the order in which
 * they were tried: `preferred` (may be NULL) stands for its class, else the lowest configuration.
 * Called before a race and after it. */
void pipeline_settle_twins(pipeline *p, const candidate *preferred);

/* All candidates so far. */
const candidates *pipeline_candidates(const pipeline *p);

const pipeline_state *pipeline_get_state(const pipeline *p);

#endif
