/* A search strategy proposes configurations and learns from their outcomes.
 *
 * The caller asks for a batch of configurations (indices into a space), runs them in any order, and
 * tells each outcome. A strategy never proposes an invalid configuration, nor the same
 * configuration twice. It knows nothing of CUDA, Lua or the clock. The same seed, space and
 * outcomes in the same order give the same proposals. A new strategy needs a file, a line in
 * strategies.h and a line in the table of strategy.c. */
#ifndef AUTOTUNE_STRATEGY_H
#define AUTOTUNE_STRATEGY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/space.h"

typedef struct strategy strategy;

typedef struct strategy_options {
    const space *space; /* borrowed; must outlive the strategy */
    uint64_t seed;
    uint64_t budget;       /* number of evaluations that the caller allows; 0 for all */
    const uint64_t *start; /* configurations to try first: the script's default, a warm start */
    size_t start_count;
} strategy_options;

/* The cost of a configuration that failed: did not compile, was wrong, crashed ... */
#define STRATEGY_FAILED INFINITY

/* A kind of strategy, which only decides what to try next. The ledger (strategies.h) handles start
 * configurations and outcomes, and prevents repeated proposals. */
typedef struct strategy_kind {
    const char *name;    /* value of --strategy */
    const char *summary; /* one line for --help */
    bool blind;          /* its proposals do not depend on outcomes */
    size_t size_bytes;   /* size of its struct, which begins with a struct strategy */
    /* `init` may be NULL. */
    void (*init)(strategy *s, const strategy_options *options);
    void (*deinit)(strategy *s);
    /* Proposes an unseen configuration. Returns false if none is left or an outcome must come
     * first. */
    bool (*propose)(strategy *s, uint64_t *configuration);
    /* Called after the outcome of a trial of the ledger was told. May be NULL. */
    void (*learn)(strategy *s, size_t trial);
    /* See strategy_chance(). A NULL pointer stands for a chance of 1. */
    double (*chance)(strategy *s, double tie);
} strategy_kind;

const strategy_kind *strategy_get_kind(const strategy *s);

/* Makes a strategy of a kind. strategy_free() frees it. */
strategy *strategy_new(const strategy_kind *kind, const strategy_options *options);

/* Writes up to `capacity` configurations to try next, and returns their number. If it returns 0,
 * the strategy waits for an outstanding outcome; without one, the space is exhausted. */
size_t strategy_ask(strategy *s, size_t capacity, uint64_t *configurations);

/* Tells the outcome of a configuration: its cost (above 0, lower is better, for example a time in
 * ns) or STRATEGY_FAILED. The configuration may have been measured without being asked for. Only
 * its first outcome counts. */
void strategy_tell(strategy *s, uint64_t configuration, double cost);

/* Returns an upper bound of the chance that any configuration without an outcome costs less than
 * (1 - tie) times the least cost so far. Returns 0 if all outcomes are known, and 1 if the strategy
 * has no model or no outcome yet. */
double strategy_chance(strategy *s, double tie);

/* Frees a strategy. `s` may be NULL. */
void strategy_free(strategy *s);

/* Returns all kinds, the default first, and their number in `*count`. */
const strategy_kind *const *strategy_kinds(size_t *count);

/* Finds a kind by its name; NULL and "auto" mean the default. AT_USAGE names the nearest. */
at_status strategy_find(const char *name, const strategy_kind **out, at_error *error);

#endif
