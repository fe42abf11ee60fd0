/* A search strategy proposes configurations and learns what became of them.
 *
 * The caller asks for a batch of configurations (indices into a space), runs them however it likes,
 * in any order, and tells each outcome. A strategy never proposes a configuration twice and never
 * an invalid one. It knows nothing of CUDA, Lua or the clock; the same seed, space and outcomes
 * told in the same order give the same proposals. Adding a strategy is adding a file and a line of
 * the table in strategy.c. */
#ifndef AUTOTUNE_STRATEGY_H
#define AUTOTUNE_STRATEGY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "space.h"

typedef struct strategy strategy;

typedef struct strategy_options {
    const space *space;     /* borrowed; outlives the strategy */
    uint64_t seed;
    uint64_t budget;        /* evaluations the caller will pay for; 0: as many as there are */
    const uint64_t *start;  /* configurations worth trying first (a script's default, a warm start) */
    size_t start_count;
    const double *prior;    /* predicted cost for each configuration, or NULL; lower is better */
} strategy_options;

/* Cost told for a configuration that failed in any way (did not compile, was wrong, crashed). */
#define STRATEGY_FAILED INFINITY

typedef struct strategy_kind {
    const char *name;    /* as --strategy takes it */
    const char *summary; /* one line for --help */
    at_status (*create)(const strategy_options *options, strategy **out, at_error *error);
    size_t (*ask)(strategy *s, size_t capacity, uint64_t *configurations);
    void (*tell)(strategy *s, uint64_t configuration, double cost);
    void (*free)(strategy *s);
} strategy_kind;

/* Every strategy is a struct whose first member is this. */
struct strategy {
    const strategy_kind *kind;
};

/* All strategies, the default first. *count receives how many. Static storage. */
const strategy_kind *const *strategy_kinds(size_t *count);

/* Makes the strategy called `name` (NULL or "auto": the default). Errors: AT_USAGE for an unknown
 * name, naming the nearest; AT_NO_MEMORY. */
at_status strategy_new(const char *name, const strategy_options *options, strategy **out,
                       at_error *error);

/* Up to `capacity` configurations to try next. Returns how many; 0 while outcomes are outstanding
 * means "tell me more first", 0 with none outstanding means the strategy has ended. */
size_t strategy_ask(strategy *s, size_t capacity, uint64_t *configurations);

/* Tells the outcome of one configuration that was asked: its cost (time in ns, say; lower is
 * better) or STRATEGY_FAILED. */
void strategy_tell(strategy *s, uint64_t configuration, double cost);

void strategy_free(strategy *s); /* NULL is fine */

#endif
