/* A bandit: shares the budget among several strategies by what each has brought in lately.
 *
 * Fialho et al. (2010), as in OpenTuner (Ansel et al. 2014): a strategy's credit is the area under
 * the curve of its improvements over a window, later ones counting more, plus a bonus for being
 * tried little. All learn from every outcome. */
#include <stdlib.h>

#include "search/strategies.h"

static const strategy_kind *const arms[] = {
    &strategy_surrogate,
    &strategy_neighbourhood,
    &strategy_genetic,
    &strategy_annealing,
};

enum { ARMS = sizeof arms / sizeof *arms, WINDOW = 50 };

/* The first arm's sample, which fills the space, is what all begin with. */
enum { FIRST_SAMPLE = 20 };
static const double exploration = 0.05; /* OpenTuner's constant */

typedef struct bandit {
    strategy base;
    strategy *arms[ARMS];
    keymap arm_of; /* configuration -> who proposed it */
    struct {
        uint8_t arm;
        bool improved;
    } window[WINDOW]; /* a ring of the last outcomes */
    size_t outcomes;
} bandit;

static bool bandit_init(strategy *s, const strategy_options *options)
{
    bandit *b = (bandit *)s;
    strategy_options each = *options;
    each.start_count = 0;
    bool made = true;
    for (size_t i = 0; i < ARMS && made; i++) {
        each.seed = rng_next(&s->ledger.rng);
        made = strategy_new(arms[i], &each, &b->arms[i], NULL) == AT_OK;
    }
    return made;
}

static void bandit_deinit(strategy *s)
{
    bandit *b = (bandit *)s;
    for (size_t i = 0; i < ARMS; i++)
        strategy_free(b->arms[i]);
    keymap_deinit(&b->arm_of);
}

static size_t choose_arm(const bandit *b)
{
    double area[ARMS] = {0}, uses[ARMS] = {0};
    size_t held = b->outcomes < WINDOW ? b->outcomes : WINDOW;
    for (size_t i = 0; i < held; i++) {
        size_t at = (b->outcomes - held + i) % WINDOW;
        size_t arm = b->window[at].arm;
        uses[arm]++;
        area[arm] += b->window[at].improved ? uses[arm] : 0;
    }
    size_t best = 0;
    double most = -1;
    for (size_t i = 0; i < ARMS; i++) {
        double credit = uses[i] > 0 ? 2 * area[i] / (uses[i] * (uses[i] + 1)) +
                                          exploration * sqrt(2 * log((double)held + 1) / uses[i])
                                    : INFINITY;
        if (credit > most) {
            most = credit;
            best = i;
        }
    }
    return best;
}

/* Tells every arm what is being tried, whichever proposed it. */
static void share_asked(bandit *b)
{
    const ledger *l = &b->base.ledger;
    for (size_t i = 0; i < ARMS; i++) {
        ledger *own = &b->arms[i]->ledger;
        for (size_t t = own->trial_count; t < l->trial_count; t++)
            ledger_ask(own, l->trials[t].configuration);
    }
}

static bool bandit_propose(strategy *s, uint64_t *configuration)
{
    bandit *b = (bandit *)s;
    share_asked(b);
    size_t first = s->ledger.trial_count < FIRST_SAMPLE ? 0 : choose_arm(b);
    for (size_t i = 0; i < ARMS; i++) {
        size_t arm = (first + i) % ARMS;
        strategy *chosen = b->arms[arm];
        if (chosen->kind->propose(chosen, configuration))
            return keymap_put(&b->arm_of, *configuration, arm);
    }
    return false;
}

static void bandit_learn(strategy *s, size_t trial)
{
    bandit *b = (bandit *)s;
    const ledger_trial *t = &s->ledger.trials[trial];
    uint64_t arm;
    share_asked(b);
    for (size_t i = 0; i < ARMS; i++)
        strategy_tell(b->arms[i], t->configuration, t->cost);
    if (!keymap_get(&b->arm_of, t->configuration, &arm))
        return;
    b->window[b->outcomes % WINDOW].arm = (uint8_t)arm;
    b->window[b->outcomes % WINDOW].improved = s->ledger.best == trial;
    b->outcomes++;
}

const strategy_kind strategy_bandit = {
    .name = "bandit",
    .summary = "several strategies, each used the more the better it does",
    .size_bytes = sizeof(bandit),
    .init = bandit_init,
    .deinit = bandit_deinit,
    .propose = bandit_propose,
    .learn = bandit_learn,
};
