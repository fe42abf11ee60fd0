/* The parts that all strategies share: the ledger of trials, the random draw, and the struct with
 * which each strategy begins. Private to search/. */
#ifndef AUTOTUNE_STRATEGIES_H
#define AUTOTUNE_STRATEGIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/rng.h"
#include "search/strategy.h"

/* ---- random draw (draw.c) ----
 * Draws the numbers 0 to count - 1 in random order, each once: a Fisher-Yates shuffle that stores
 * only the places that differ from their number, so memory grows with the numbers drawn. */

typedef struct draw {
    uint64_t left; /* numbers that are not drawn yet */
    keymap moved;  /* place -> number, if the two differ; owned */
    rng rng;
} draw;

/* Makes a draw of the numbers below `count`. draw_deinit() frees its memory. */
draw draw_new(uint64_t count, rng r);
void draw_deinit(draw *d);

/* Draws the next number. Returns false if all are drawn. */
bool draw_next(draw *d, uint64_t *number);

/* ---- ledger (ledger.c) ----
 * The trials of a strategy: the configurations that were proposed to or told by the caller, in the
 * order of their first appearance, with their outcomes. */

typedef struct ledger_trial {
    uint64_t configuration;
    double cost; /* lower is better; NAN while outstanding; STRATEGY_FAILED after a failure */
} ledger_trial;

typedef struct ledger {
    const space *space; /* borrowed */
    uint64_t space_count;
    uint64_t budget; /* as in strategy_options, but from 1 to space_count */
    rng rng;         /* for the choices of the strategy */
    ledger_trial *trials;
    size_t trial_count;
    size_t outstanding; /* number of trials without an outcome */
    size_t told;        /* number of trials with an outcome */
    size_t best;        /* trial with the lowest cost; SIZE_MAX before the first success */
    keymap trial_of;    /* configuration -> trial */
    uint64_t *start;
    size_t start_count, start_next;
    draw unseen;
} ledger;

/* Makes an empty ledger; copies the options. ledger_deinit() frees its memory. */
void ledger_init(ledger *l, const strategy_options *options);
void ledger_deinit(ledger *l);

/* Returns whether the configuration is a trial: it was proposed, or its outcome was told. */
bool ledger_seen(const ledger *l, uint64_t configuration);

/* Returns whether the configuration's outcome was told. */
bool ledger_told(const ledger *l, uint64_t configuration);

/* Lists up to `most` trials with the lowest costs, the best first. Returns their number. */
size_t ledger_elite(const ledger *l, size_t *trials, size_t most);

/* Draws an unseen configuration uniformly. Returns false if none is left. */
bool ledger_random(ledger *l, uint64_t *configuration);

/* Takes the next unseen start configuration. Returns false if none is left. */
bool ledger_start(ledger *l, uint64_t *configuration);

/* Adds an unseen configuration as an outstanding trial. */
void ledger_ask(ledger *l, uint64_t configuration);

/* Records an outcome, also of a configuration that was never proposed. Returns its trial, or
 * SIZE_MAX if the configuration is invalid or was told before. */
size_t ledger_tell(ledger *l, uint64_t configuration, double cost);

/* The first member of the struct of each strategy. */
struct strategy {
    const strategy_kind *kind;
    ledger ledger;
};

extern const strategy_kind strategy_surrogate;

#endif
