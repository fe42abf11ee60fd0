/* Proofs: variants run on a simulated device with every fault watched.
 *
 * In: configurations. Out: for each a proof: it did nothing wrong on a small problem and on the ragged
 * ones; or what it did; or why it is not known (an instruction that the simulator lacks, a problem that
 * is too large). Variants are compiled to PTX in a pool that others may use too, and run by a device
 * worker of their own, so that a proof takes idle cores and endangers nothing. Whatever goes wrong with
 * the prover itself makes proofs unknown, never an error of the run. */
#ifndef AUTOTUNE_RUN_VARIANT_PROOF_H
#define AUTOTUNE_RUN_VARIANT_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "compile/compile.h"
#include "script/script.h"

typedef struct prover prover;

typedef enum proof_verdict {
    PROOF_NONE,      /* not asked for */
    PROOF_PROVEN,
    PROOF_CONVICTED,
    PROOF_UNKNOWN
} proof_verdict;

typedef struct proof {
    uint64_t id;           /* the caller's */
    proof_verdict verdict;
    char *message;         /* owned (free); what it did wrong, or why that is not known; "" when proven */
} proof;

/* Starts a prover for an architecture ("sm_90"). The script and the pool are borrowed; the script is
 * used in prover_new() and prover_add() alone. Never fails but for AT_NO_MEMORY: a prover that cannot
 * work answers PROOF_UNKNOWN. `as_set`: variants run on the problem that the user set, where it is not
 * out of reach, and else on a quick one. */
at_status prover_new(script *s, compile_pool *pool, const char *arch, bool as_set, prover **out,
                     at_error *error);
void prover_free(prover *p); /* NULL is fine */

/* The problems that variants run on: "the small problem n=4096, the ragged problem n=1003". */
const char *prover_problems(const prover *p);

/* Has a configuration proven; the answer comes from prover_take(). AT_SCRIPT when it cannot be
 * emitted. */
at_status prover_add(prover *p, uint64_t id, const uint16_t *indices, at_error *error);

/* Is this compile result the prover's? Then it must be given to it; what it needs it takes out. */
bool prover_owns(uint64_t compile_id);
at_status prover_compiled(prover *p, compile_result *r, at_error *error);

/* Moves everything that can move, without waiting; and what to wait for (fd -1: nothing) and how long
 * at most (-1: no limit). Compile results are the caller's affair. */
at_status prover_step(prover *p, at_error *error);

/* Configurations whose proof was not taken yet. */
size_t prover_pending(const prover *p);

/* The next proof; false: there is none yet. The caller frees out->message. */
bool prover_take(prover *p, proof *out);

/* Adds what an event loop is to wait for before it calls prover_step() again. */
void prover_poll(const prover *p, poll_set *set);

#endif
