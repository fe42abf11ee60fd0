/* Chooses the problems on which variants are proven, among those that a script has: small enough to
 * be run whole on a simulated device, or blocks of larger ones. */
#ifndef AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H
#define AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H

#include <stdbool.h>

#include "bench/client.h"
#include "script/script.h"

typedef struct proof_problems {
    size_t count;
    problem_kind kinds[DEVICE_SLOTS];
    bool sampled[DEVICE_SLOTS]; /* blocks of it are run alone */
    bool brief;                 /* what takes long on them is left */
    bool none_whole; /* all problems are too large: some blocks can be wrong, and prove nothing */
    char names[DEVICE_SLOTS * (DEVICE_LABEL_BYTES + 2)]; /* "the small problem n=4096, ..." */
} proof_problems;

/* Chooses the tuned problem where it is small, else what stands in for it; all ragged ones; and
 * blocks of the tuned one, unless it is run whole. `p` begins zeroed. `as_set`: the problem as the
 * user set it may be larger. AT_USAGE: there is none. */
at_status proof_problems_choose(proof_problems *p, script *s, bool as_set, at_error *error);

/* How problems are made larger, in one variable each that sizes follow: blocks of some that are
 * larger than any of the script's; some that can be run whole; and the largest of these that are no
 * larger than the script's. */
typedef enum proof_growth { GROWTH_BLOCKS, GROWTH_WHOLE, GROWTH_BRIEF, GROWTH_COUNT } proof_growth;

/* Makes such problems of the script (PROBLEM_LARGER), which are else as `base`. None: p->count
 * stays 0. */
void proof_problems_enlarge(proof_problems *p, script *s, problem_kind base, proof_growth growth);

/* Is no variable of the problem larger than the tuned problem's? */
bool proof_problems_within(const pattern *described, problem_kind kind);

#endif
