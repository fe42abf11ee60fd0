/* Chooses the problems on which variants are proven among the problems of a script: small ones,
 * which run whole on a simulated device, and blocks of larger ones. */
#ifndef AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H
#define AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H

#include <stdbool.h>

#include "bench/client.h"
#include "script/script.h"

typedef struct proof_problems {
    size_t count;
    problem_kind kinds[DEVICE_SLOTS];
    bool sampled[DEVICE_SLOTS]; /* only blocks of it run */
    bool brief;                 /* checks that take long are left out */
    bool none_whole; /* all problems are too large: blocks of them show faults but prove nothing */
    char names[DEVICE_SLOTS * (DEVICE_LABEL_BYTES + 2)]; /* "the small problem n=4096, ..." */
} proof_problems;

/* Chooses the tuned problem if it is small, else a problem in its place; all ragged problems; and
 * blocks of the tuned problem unless it runs whole. The caller zeroes `p`. `as_set`: the user's
 * own problem may be larger. Returns AT_USAGE if there is no problem. */
at_status proof_problems_choose(proof_problems *p, script *s, bool as_set, at_error *error);

/* How a problem grows in one variable that its sizes follow: beyond all problems of the script, in
 * blocks; by a small factor, whole; or up to the script's largest, whole. */
typedef enum proof_growth { GROWTH_BLOCKS, GROWTH_WHOLE, GROWTH_BRIEF, GROWTH_COUNT } proof_growth;

/* Makes such problems (PROBLEM_LARGER) from `base`. p->count stays 0 if there are none. */
void proof_problems_enlarge(proof_problems *p, script *s, problem_kind base, proof_growth growth);

/* Returns true if no variable exceeds the tuned problem's. */
bool proof_problems_within(const pattern *described, problem_kind kind);

#endif
