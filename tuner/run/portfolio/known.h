/* The findings of a portfolio's runs: problems, configurations that were good on one of them, and
 * times. A time is the ratio to a run's fastest variant, from samples of the same blocks, times the
 * median of that variant. Times of one problem can be compared as pairs if one run measured
 * them. */
#ifndef AUTOTUNE_RUN_PORTFOLIO_KNOWN_H
#define AUTOTUNE_RUN_PORTFOLIO_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "portfolio/problems.h"
#include "record/record.h"
#include "record/summary.h"
#include "script/script.h"

typedef struct known_configuration {
    char *text;           /* "tile=64,vec=4,..."; owned */
    record_values values; /* values of the parameters; owned, with their texts */
    bool proven;          /* the configuration is proven, or a proof was tried */
    char *found_fault;    /* fault of the configuration on some problem; owned; may be NULL */
    double *times_ns;     /* for each problem; 0 if not timed or impossible; owned */
    int8_t *possible;     /* by problem: whether constraints allow it; -1 if not asked; owned */
} known_configuration;

typedef struct known_problem {
    const value *values; /* one for each axis; borrowed */
    char *left_out;      /* reason why the problem takes no part; owned; may be NULL */
    bool searched;       /* searched, not only timed with configurations good elsewhere */
    bool wide; /* all configurations of the choice were timed on this witness (witnesses.c) */
    double baseline_ns; /* time of the script's default; 0 if it is impossible on the problem */
    double best_ns;     /* 0 if nothing was timed */
    double gain; /* relative gain of the search over the best known before; -1 if none was known */
} known_problem;

typedef struct known {
    size_t problem_count;
    known_problem *problems;
    size_t count;
    known_configuration *items;
} known;

/* Makes an empty table; borrows the problems. known_deinit() frees its memory. */
void known_init(known *k, const value *problems, size_t axis_count, size_t problem_count);
void known_deinit(known *k);

/* Takes over a run's findings on the problem: its `most` fastest configurations, the known
 * configurations, the default, and the wrong configurations. */
void known_learn(known *k, size_t problem, const run_summary *s, size_t most);

/* Asks the script, loaded for the problem, whether a configuration is possible. Asks only once. */
void known_ask(known *k, size_t problem, size_t configuration, script *s);

/* Leaves a problem out, for the reason `why` ("" means that no variant worked). */
void known_leave_out(known *k, size_t problem, const char *why);

/* Returns true if `text` is a configuration that the script allows for the loaded problem. */
bool known_fits(script *s, const char *text);

/* Returns true if the configuration was timed on the problem and exactly `rank` configurations that
 * are wrong on no problem were faster on it. */
bool known_has_rank(const known *k, size_t configuration, size_t problem, size_t rank);

/* Appends a copy of a value to values that own their texts and have room. */
void known_values_add(record_values *values, const char *name, value v);
void known_values_deinit(record_values *values);

#endif
