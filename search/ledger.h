/* The proposals of a strategy and their outcomes: the part that all strategies share.
 *
 * The ledger keeps configurations in the order in which they were first asked or told, with their
 * outcomes. It returns the start configurations one by one and draws from those that are unseen. It
 * owns its tables; the space is borrowed. */
#ifndef AUTOTUNE_LEDGER_H
#define AUTOTUNE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/rng.h"
#include "search/draw.h"
#include "search/strategy.h"

typedef struct ledger_trial {
    uint64_t configuration;
    double cost; /* NAN: outstanding; STRATEGY_FAILED; else lower is better */
} ledger_trial;

typedef struct ledger {
    const space *space;
    uint64_t space_count;
    uint64_t budget; /* as in strategy_options, but never 0 and never beyond space_count */
    rng rng;         /* for the strategy's own choices */
    ledger_trial *trials;
    size_t trial_count;
    size_t outstanding;
    size_t told;     /* trials whose outcome is known */
    size_t best;     /* the trial of lowest cost; SIZE_MAX while none has succeeded */
    size_t last;     /* the trial told last; SIZE_MAX at first */
    keymap trial_of; /* configuration -> trial */
    uint64_t *start;
    size_t start_count, start_next;
    draw unseen;
} ledger;

void ledger_init(ledger *l, const strategy_options *options);
void ledger_deinit(ledger *l); /* a zeroed ledger is fine */

/* True when the configuration was proposed or told already. */
bool ledger_seen(const ledger *l, uint64_t configuration);

/* The trials of lowest cost, best first, `most` at most; returns how many. */
size_t ledger_elite(const ledger *l, size_t *trials, size_t most);

/* An unseen configuration drawn uniformly; false when none is left. */
bool ledger_random(ledger *l, uint64_t *configuration);

/* The next start configuration that is unseen; false when there are no more. */
bool ledger_start(ledger *l, uint64_t *configuration);

/* Marks an unseen configuration as outstanding. */
void ledger_ask(ledger *l, uint64_t configuration);

/* Notes an outcome. A configuration that was never asked was measured elsewhere. Returns its trial,
 * or SIZE_MAX when it was told before: then nothing changed. */
size_t ledger_tell(ledger *l, uint64_t configuration, double cost);

#endif
