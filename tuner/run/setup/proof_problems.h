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
    bool brief;                 /* checks that take long on them are left out */
    bool none_whole; /* all problems are too large: blocks of them show faults but prove nothing */
    char names[DEVICE_SLOTS * (DEVICE_LABEL_BYTES + 2)]; /* "the small problem n=4096, ..." */
} proof_problems;

/* Chooses the tuned problem if it is small, else a problem in its place; all ragged problems; and
 * blocks of the tuned problem unless it runs whole. `p` is zeroed. `as_set`: the problem as the
 * user set it may be larger. Returns AT_USAGE if there is no problem. */
at_status proof_problems_choose(proof_problems *p, script *s, bool as_set, at_error *error);

/* How a problem is made larger in one variable that its sizes follow: larger than all problems of
 * the script, run in blocks; larger, run whole; as large as possible up to the script's largest,
 * run whole. */
typedef enum proof_growth { GROWTH_BLOCKS, GROWTH_WHOLE, GROWTH_BRIEF, GROWTH_COUNT } proof_growth;

/* Makes such problems of the script (PROBLEM_LARGER) from `base`. p->count stays 0 if there is
 * none. */
void proof_problems_enlarge(proof_problems *p, script *s, problem_kind base, proof_growth growth);

/* Returns true if no variable of the problem is larger than the tuned problem's. */
bool proof_problems_within(const pattern *described, problem_kind kind);

#endif
