/* Proofs: runs variants on a simulated device that reports every fault.
 *
 * Input: configurations. Output for each: a proof that the variant is right on a small problem, on
 * the ragged problems and in sampled blocks of the tuned problem; or its fault; or the reason why
 * nothing is known (an instruction that is not simulated, a problem that is too large). Variants
 * are compiled to PTX in a pool that other code may share. They run on device workers of the
 * prover: at most eight, and one for two cores. If the prover itself fails, proofs are unknown, and
 * the run goes on. */
#ifndef AUTOTUNE_RUN_VARIANT_PROOF_H
#define AUTOTUNE_RUN_VARIANT_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "compile/compile.h"
#include "device/outcome.h"
#include "report/progress.h"
#include "script/script.h"

typedef struct prover prover;

typedef enum proof_verdict {
    PROOF_NONE,    /* no proof was requested */
    PROOF_PENDING, /* a proof was requested; a verdict of candidates only */
    PROOF_PROVEN,
    PROOF_WRONG,
    PROOF_UNKNOWN
} proof_verdict;

typedef struct proof {
    uint64_t id; /* number given by the caller */
    proof_verdict verdict;
    char *message;      /* the fault, or the reason why nothing is known; "" if proven; owned */
    device_fault fault; /* the fault, as fields */
    char *printed;      /* text that the kernels printed on the first problem, or on the problem on
                         * which the variant failed; owned; may be NULL */
    char *not_run;      /* problems on which the variant breaks a constraint, as text; owned; may be
                         * NULL */
    bool uncompiled;    /* the variant does not compile; `message` has the reason */
    bool is_script_wrong;     /* the script is wrong: its reference faults, for example */
    bool timed_out;           /* the variant had not ended at its time limit */
    problem_kind wrong_on;    /* the problem on which a wrong variant failed */
    device_coverage coverage; /* what was run, if proven */
} proof;

void proof_deinit(proof *p);

/* Starts a prover for an architecture ("sm_90"). The script and the pool are borrowed; only
 * prover_new() and prover_add() use the script. A prover that cannot work answers PROOF_UNKNOWN.
 * `as_set`: variants run on the problem as the user set it, unless it is too large. `whole`: when
 * all of the tuned problem runs. */
prover *prover_new(script *s, compile_pool *pool, const char *arch, bool as_set,
                   device_whole whole);
void prover_free(prover *p); /* `p` may be NULL. */

/* Writes the problems on which variants run: "the small problem n=4096, the ragged ...". Adds "(for
 * 2 of 5 variants)" to a problem that some proven variants exclude. */
void prover_problems(const prover *p, char *text, size_t size_bytes);

/* Queues a configuration for prover_take(). Returns AT_SCRIPT if it cannot be emitted. */
at_status prover_add(prover *p, uint64_t id, const uint16_t *indices, at_error *error);

/* Moves a queued configuration before all others that no worker has begun. */
void prover_hurry(prover *p, uint64_t id);

/* Ends a queued proof as unknown, for the reason `why`, unless a worker has begun it. */
void prover_withdraw(prover *p, uint64_t id, const char *why);

/* Returns true if a compile result belongs to prover_compiled(). */
bool prover_owns(uint64_t compile_id);
at_status prover_compiled(prover *p, compile_result *r, at_error *error);

/* Advances all proofs that can advance, without waiting. The caller takes the compile results. */
at_status prover_step(prover *p, at_error *error);

/* Advances proofs, and takes the compile results, for a prover whose pool compiles nothing else.
 * Waits up to `timeout_ms` if no proof is ready. */
at_status prover_work(prover *p, int timeout_ms, at_error *error);

/* Returns the progress of a worker that runs the complete tuned problem, in thousandths, or 0. */
uint64_t prover_permille(const prover *p);

/* Returns the number of configurations whose proof has not been taken. */
size_t prover_pending(const prover *p);

/* Takes the next proof. Returns false if no proof is ready. The caller calls proof_deinit(). */
bool prover_take(prover *p, proof *out);

/* The oracle's results for a whole problem on the simulated device. */
typedef struct proof_results {
    problem_kind kind;
    size_t layout; /* layout number of the script */
    void *bytes;   /* owned by the caller (free) */
    size_t size_bytes;
} proof_results;

/* Asks the workers for the results of a baseline oracle on every problem that runs whole. */
void prover_tell_results(prover *p);
/* Takes the next results. Returns false if no results are ready. */
bool prover_take_results(prover *p, proof_results *out);
/* Returns true if more results will come. */
bool prover_has_results(const prover *p);

/* If no proof is decided 10 s after the first job, tells the user once, on stderr, that the
 * reference runs first and what to do about it. Does so only if a reference runs. Clears
 * `shown`. */
void prover_tell_wait(prover *p, progress *shown);

/* Adds the sockets and deadlines that an event loop must await before the next prover_step(). */
void prover_poll(const prover *p, poll_set *set);

#endif
