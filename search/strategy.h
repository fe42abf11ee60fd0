/* A search strategy proposes configurations and learns from their outcomes.
 *
 * The caller asks for a batch of configurations (indices into a space), runs them in any order, and
 * tells each outcome. A strategy never proposes a configuration twice and never an invalid one. It
 * knows nothing of CUDA, Lua or the clock; the same seed, space and outcomes told in the same order
 * give the same proposals. Adding a strategy is adding a file, a line in strategies.h and a line of
 * the table in strategy.c. */
#ifndef AUTOTUNE_STRATEGY_H
#define AUTOTUNE_STRATEGY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/space.h"

typedef struct strategy strategy;

typedef struct strategy_options {
    const space *space; /* borrowed; outlives the strategy */
    uint64_t seed;
    uint64_t budget;       /* evaluations the caller will pay for; 0: as many as there are */
    const uint64_t *start; /* configurations to try first (a script's default, a warm start) */
    size_t start_count;
    const double *prior; /* predicted cost of each configuration, or NULL; borrowed, outlives the
                            strategy. Not finite: not known, or predicted to fail */
} strategy_options;

/* Cost told for a configuration that failed in any way (did not compile, was wrong, crashed). */
#define STRATEGY_FAILED INFINITY

/* A way to search: it decides what to try next. The ledger (ledger.h) does what all strategies
 * share: start configurations, what was asked and told, nothing proposed twice. */
typedef struct strategy_kind {
    const char *name;    /* as --strategy takes it */
    const char *summary; /* one line for --help */
    /* A kind that only chooses another has this and nothing below; NULL in all others. */
    const struct strategy_kind *(*choose)(const strategy_options *options);
    bool wants_prior;  /* works worse, or not at all, without strategy_options.prior */
    bool blind;        /* its proposals do not depend on outcomes */
    size_t size_bytes; /* of its struct, whose first member is a struct strategy */
    void (*init)(strategy *s, const strategy_options *options); /* NULL: nothing to do */
    void (*deinit)(strategy *s);                                /* the same */
    /* The next configuration to try, unseen so far. False: nothing until more is told, or nothing
     * at all. */
    bool (*propose)(strategy *s, uint64_t *configuration);
    void (*learn)(strategy *s, size_t trial); /* of the ledger, just told; NULL: nothing to do */
} strategy_kind;

/* The kind that made `s`: for a choosing kind, the one it chose. */
const strategy_kind *strategy_get_kind(const strategy *s);

/* Makes a strategy of a kind. */
strategy *strategy_new(const strategy_kind *kind, const strategy_options *options);

/* Up to `capacity` configurations to try next. Returns how many. 0 while outcomes are outstanding
 * means that it needs one of them first; 0 with none outstanding means that the strategy has ended:
 * the space is exhausted. */
size_t strategy_ask(strategy *s, size_t capacity, uint64_t *configurations);

/* Tells the outcome of one configuration: its cost (time in ns, say; lower is better; more than 0)
 * or STRATEGY_FAILED. One that was never asked was measured elsewhere (a warm start): the strategy
 * learns from it and will not propose it. Only the first outcome told for a configuration
 * counts. */
void strategy_tell(strategy *s, uint64_t configuration, double cost);

void strategy_free(strategy *s); /* NULL is fine */

/* All strategies, the default first. *count receives how many. Static storage. */
const strategy_kind *const *strategy_kinds(size_t *count);

/* Finds a strategy; NULL is the default. AT_USAGE for an unknown name, naming the nearest. */
at_status strategy_find(const char *name, const strategy_kind **out, at_error *error);

#endif
