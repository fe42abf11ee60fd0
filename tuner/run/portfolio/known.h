/* The findings of a portfolio's runs: problems, configurations that were good on one of them, and
 * their times.
 *
 * A time is the ratio to the fastest of a run, from samples of the same blocks, multiplied by the
 * median of that fastest one. Times of one problem therefore compare as pairs if one run measured
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
    record_values values; /* owned, texts too */
    bool proven;          /* or its proof was tried */
    char *condemned;      /* what it did wrong somewhere; owned; NULL: nothing */
    double *times_ns;     /* one a problem; owned; 0: not timed, or impossible */
    int8_t *possible;     /* by the constraints, one a problem; owned; -1: not asked */
} known_configuration;

typedef struct known_problem {
    const value *values; /* one an axis; borrowed */
    char *left_out;      /* why; owned; NULL: it is in */
    bool searched;       /* not only given what was good elsewhere */
    bool wide;           /* a witness on which all that is chosen from was timed */
    double baseline_ns;  /* of the script's default; 0: impossible there */
    double best_ns;      /* 0: nothing was timed */
    double gain;         /* of the search: by how much what it found is faster than what was known;
                          * negative: nothing was */
} known_problem;

typedef struct known {
    size_t problem_count;
    known_problem *problems;
    size_t count;
    known_configuration *items;
} known;

void known_init(known *k, const value *problems, size_t axis_count, size_t problem_count);
void known_deinit(known *k);

/* Takes over what a run on the problem found: its fastest `most` configurations, the known ones,
 * the default, and those that failed. */
void known_learn(known *k, size_t problem, const run_summary *s, size_t most);

/* Asks the script, which is loaded for the problem, whether a configuration is possible, unless it
 * was asked. */
void known_ask(known *k, size_t problem, size_t configuration, script *s);

/* Leaves the problem out and keeps the reason. */
void known_leave_out(known *k, size_t problem, const char *why);

/* Is this a configuration of the script that its constraints allow for the problem it is loaded
 * for? */
bool known_fits(script *s, const char *text);

/* Was it timed on the problem, with exactly `rank` faster configurations there that failed
 * nowhere? */
bool known_has_rank(const known *k, size_t configuration, size_t problem, size_t rank);

/* Values that own their texts. Appends a copy, for which there is room. */
void known_values_add(record_values *values, const char *name, value v);
void known_values_deinit(record_values *values);

#endif
