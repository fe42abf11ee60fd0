/* Which parameters decide how fast a variant is, and which only together.
 *
 * In: recorded measurements. Out: shares of the variance of log(cost) among the configurations that
 * work, as in functional ANOVA (Hutter, Hoos & Leyton-Brown 2014; Sobol' 1993), but over the
 * measured configurations instead of a model: exact if the whole space was measured. Constraints
 * make parameters depend on each other, so that shares need not add up to 1. */
#ifndef AUTOTUNE_HISTORY_IMPORTANCE_H
#define AUTOTUNE_HISTORY_IMPORTANCE_H

#include "base/error.h"
#include "history/recorded.h"

typedef struct importance_parameter {
    size_t parameter;
    double alone;      /* Var(E[y | this]) / Var(y) */
    double total;      /* E[Var(y | all others)] / Var(y): what it still decides when all others are
                          fixed */
    double worst;      /* lowest cost with its worst value over lowest cost of all; at least 1 */
    size_t best_value; /* index of the result with the lowest cost */
} importance_parameter;

typedef struct importance_pair {
    size_t a, b;  /* parameters */
    double share; /* of both together, minus the share of each alone */
} importance_pair;

typedef struct importance {
    size_t measured;                  /* configurations that work */
    bool whole;                       /* all valid configurations were measured, or failed */
    double deviation;                 /* standard deviation of log(cost) */
    size_t parameter_count;           /* those that vary */
    importance_parameter *parameters; /* owned; by total, then alone, descending */
    size_t pair_count;
    importance_pair *pairs; /* owned; by share, descending */
} importance;

/* AT_NOT_FOUND when fewer than two configurations work. The caller calls
 * importance_deinit. */
at_status importance_of(const recorded *r, importance *out, at_error *error);
void importance_deinit(importance *m); /* a zeroed one is fine */

#endif
