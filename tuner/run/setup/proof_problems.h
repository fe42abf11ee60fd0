/* Chooses the problems on which variants are proven: small problems of the script, which run whole
 * on a simulated device, and blocks of larger problems. */
#ifndef AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H
#define AUTOTUNE_RUN_SETUP_PROOF_PROBLEMS_H

#include <stdbool.h>

#include "bench/client.h"
#include "script/script.h"

typedef struct proof_problems {
    size_t count;
    problem_kind kinds[DEVICE_SLOTS];
    bool sampled[DEVICE_SLOTS]; /* only blocks of the problem run */
    bool brief;                 /* launches have a smaller limit of work */
    bool none_whole; /* all problems are too large: blocks of them show faults but prove nothing */
} proof_problems;

/* Chooses the tuned problem if it is small, otherwise a problem in its place; all ragged problems;
 * and blocks of the tuned problem unless it runs whole. The caller zeroes `p`. `as_set` means that
 * the user set the problem, which may then be larger. Returns AT_USAGE if the script has no
 * suitable problem. */
at_status proof_problems_choose(proof_problems *p, script *s, bool as_set, at_error *error);

/* How a problem grows in a variable on which its sizes depend. GROWTH_BLOCKS: blocks run of a
 * problem larger than all of the script's. GROWTH_WHOLE: a problem runs whole, larger by a small
 * factor. GROWTH_BRIEF: problems up to the size of the script's largest run whole. */
typedef enum proof_growth { GROWTH_BLOCKS, GROWTH_WHOLE, GROWTH_BRIEF, GROWTH_COUNT } proof_growth;

/* Makes larger problems (PROBLEM_LARGER) from `base`. p->count stays 0 if there are none. */
void proof_problems_enlarge(proof_problems *p, script *s, problem_kind base, proof_growth growth);

/* Returns true if no variable of the problem exceeds the tuned problem's. */
bool proof_problems_within(const pattern *described, problem_kind kind);

#endif
