/* Proofs: variants run on a simulated device that reports every fault.
 *
 * In: configurations. Out: a proof of each: that it did nothing wrong on a small problem and on the
 * ragged ones, nor in a sample of the blocks of the tuned one, and what of it ran; or what it did
 * wrong; or why that is not known (an instruction that the simulator lacks, a problem that is too
 * large). Variants are compiled to PTX in a pool that others may share, and run by device workers
 * of their own, one for every eight cores and four at most, so that a proof uses idle cores and
 * endangers nothing. A failure of the prover itself makes proofs unknown and is no error of the
 * run. */
#ifndef AUTOTUNE_RUN_VARIANT_PROOF_H
#define AUTOTUNE_RUN_VARIANT_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/trace.h"
#include "compile/compile.h"
#include "device/outcome.h"
#include "report/progress.h"
#include "script/script.h"

typedef struct prover prover;

typedef enum proof_verdict {
    PROOF_NONE,    /* not asked for */
    PROOF_PENDING, /* asked for; of a candidate alone */
    PROOF_PROVEN,
    PROOF_CONVICTED,
    PROOF_UNKNOWN
} proof_verdict;

typedef struct proof {
    uint64_t id; /* the caller's */
    proof_verdict verdict;
    char *message;      /* owned; what it did wrong, or why that is not known; "" when proven */
    device_fault fault; /* what it did wrong, as fields */
    char *printed;      /* owned; what its kernels printed, on the first problem or the one where it
                           failed;  NULL: nothing */
    bool uncompiled;    /* it does not compile: the message says why */
    bool is_script_wrong;  /* an error of the script, such as a reference that faults: likewise */
    bool timed_out;        /* it had not ended when its time was up */
    problem_kind wrong_on; /* of one that is convicted: the problem */
    device_coverage coverage; /* when proven */
} proof;

void proof_deinit(proof *p);

/* Starts a prover for an architecture ("sm_90"). The script and the pool are borrowed; the script
 * is used only in prover_new() and prover_add(). A prover that cannot work answers
 * PROOF_UNKNOWN. `as_set`: variants run on the problem as the user set it,
 * unless it is too large, and then on a quick one. `whole`: when all of that one runs. `shown`
 * (borrowed) shows the workers; NULL: none. */
prover *prover_new(script *s, compile_pool *pool, const char *arch, bool as_set, device_whole whole,
                   trace *shown);
void prover_free(prover *p); /* NULL is fine */

/* The problems that variants run on: "the small problem n=4096, the ragged problem n=1003, blocks
 * of the tuned problem n=16777216". */
const char *prover_problems(const prover *p);

/* Queues a configuration; prover_take() returns its proof. AT_SCRIPT if it cannot be emitted. */
at_status prover_add(prover *p, uint64_t id, const uint16_t *indices, at_error *error);

/* A configuration that was queued goes before all others that no worker is at. */
void prover_hurry(prover *p, uint64_t id);

/* Decides of a configuration that was queued, unless a worker has it, that nothing is known of it:
 * `why`. */
void prover_withdraw(prover *p, uint64_t id, const char *why);

/* Does this compile result belong to the prover? Then give it to prover_compiled(), which takes
 * what it needs. */
bool prover_owns(uint64_t compile_id);
at_status prover_compiled(prover *p, compile_result *r, at_error *error);

/* Advances whatever can advance, without waiting. The caller takes the compile results. */
at_status prover_step(prover *p, at_error *error);

/* The same for a prover whose pool compiles nothing else, whose results it takes; where no proof is
 * there to take it waits up to `timeout_ms` for something to happen. */
at_status prover_work(prover *p, int timeout_ms, at_error *error);

/* How many thousandths of the tuned problem a worker has run that runs all of it; 0: none does. */
uint64_t prover_permille(const prover *p);

/* Configurations whose proof has not been taken yet. */
size_t prover_pending(const prover *p);

/* The next proof; false: there is none yet. The caller calls proof_deinit. */
bool prover_take(prover *p, proof *out);

/* The results that the oracle has for a whole problem on the simulated device. */
typedef struct proof_results {
    problem_kind kind;
    size_t layout; /* as the script numbers it */
    void *bytes;   /* owned by the caller (free) */
    size_t size_bytes;
} proof_results;

/* Has what a baseline that is the oracle made told, of every problem that is run whole. */
void prover_tell_results(prover *p);
/* The next; false: there is none yet. */
bool prover_take_results(prover *p, proof_results *out);
/* Are there any to come? */
bool prover_has_results(const prover *p);

/* Says on stderr that the reference's results come first, and what to do about that: once, in place
 * of the progress, when variants have been with a worker for 10 s and nothing is decided. Says
 * nothing where no reference of the script's is run. */
void prover_tell_wait(prover *p, progress *shown);

/* Adds what an event loop has to wait for before it calls prover_step() again. */
void prover_poll(const prover *p, poll_set *set);

#endif
