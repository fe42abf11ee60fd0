/* The tuner of one site: decides which configuration each call uses, and when the choice is final.
 *
 * A pure state machine without clock, device or lock. Input: calls as they begin, and the times of
 * timed calls, whenever they become known. Output: a configuration for each call. Most calls use
 * the incumbent: the default, until another configuration is proven faster. A few calls are trials:
 *
 *  check: times the incumbent, to learn the cost of a call without tuning.
 *  first: launches a configuration that has not run before, one at a time.
 *  block: a call of the race (search/race/race.h), whose entrants take successive calls. The race
 *         decides.
 *
 * The cost of tuning is the time of each trial beyond the incumbent's time, plus the time that
 * timing takes. The budget for trials is `share` of the time seen so far, less the cost so far. A
 * trial begins only if the budget covers its expected cost, or that of its whole block. A
 * configuration that never ran is expected to take as long as the worst configuration so far,
 * between FIRST_LEAST and FIRST_MOST times the incumbent. After a slower configuration, no trial
 * begins until the share has caught up. So the cost exceeds the share by at most one slow launch,
 * and by the first checks.
 *
 * A space of more than SITE_ROUND configurations is searched in rounds: the winner of a race races
 * against its neighbours, until no neighbour is faster. Memory is proportional to the
 * configurations of a round. If memory runs out, tuning stops with the incumbent. */
#ifndef AUTOTUNE_LIBRARY_SITE_TUNER_H
#define AUTOTUNE_LIBRARY_SITE_TUNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stats.h"
#include "search/race/race.h"

enum {
    SITE_ROUND = 256,    /* configurations of a round, besides the incumbent */
    SITE_MOST_OPEN = 64, /* most timed calls without a known time */
    SITE_GIVEN_UP = 4096 /* calls after which the time of a call is no longer awaited */
};

/* Writes at most `most` configurations that a round tries against the incumbent, and returns their
 * number. Configurations that were tried before are ignored. */
typedef size_t site_proposer(void *context, size_t round, uint32_t incumbent, uint32_t *out,
                             size_t most);

typedef struct site_rules {
    double share;      /* share of the calls' time that tuning may cost, such as 0.02 */
    uint64_t seed;     /* seed of the order of calls in a race */
    uint32_t fallback; /* the default */
    site_proposer *propose;
    void *context;
} site_rules;

typedef struct site_turn {
    uint32_t configuration;
    uint32_t incumbent; /* configuration to use instead if the call cannot be timed */
    bool has_incumbent; /* false if no configuration is valid */
    uint64_t ticket;    /* identifies the call in site_tuner_end(); 0 if the call is not timed */
} site_turn;

/* The times of one call. */
typedef struct site_sample {
    int64_t time_ns;     /* time on the device; 0 or less if it is unknown */
    int64_t host_ns;     /* time of the host from begin to end; 0 if it does not matter */
    int64_t overhead_ns; /* time of the host that timing took */
} site_sample;

typedef enum site_phase { SITE_TUNING, SITE_DECIDED, SITE_STOPPED } site_phase;

/* A report of the tuning so far. */
typedef struct site_account {
    site_phase phase;
    uint32_t incumbent;
    bool has_incumbent; /* false if every configuration is invalid */
    uint64_t calls, trials;
    int64_t seen_ns, spent_ns; /* time of the calls; cost of the trials */
    stats_summary time;        /* time of the incumbent, once decided; count 0 if undecided */
    stats_summary baseline;    /* time of the default in the same race; count 0 without it */
    race_verdict verdict;
} site_account;

typedef struct site_tuner site_tuner;

/* Makes a tuner. Returns NULL if memory ran out. */
site_tuner *site_tuner_new(const site_rules *rules);
void site_tuner_free(site_tuner *t); /* `t` may be NULL */

/* Begins a call, and returns its configuration. `may_time` says whether the call can be timed. */
site_turn site_tuner_begin(site_tuner *t, bool may_time);

/* Counts calls that used the incumbent without site_tuner_begin(). */
void site_tuner_skip(site_tuner *t, uint64_t calls);

/* Gives the time of a call to the tuner, once for each ticket. Ignores a call that was given up
 * after SITE_GIVEN_UP further calls. */
void site_tuner_end(site_tuner *t, uint64_t ticket, const site_sample *sample);

/* Counts host time that tuning took outside of trials as cost. */
void site_tuner_charge(site_tuner *t, int64_t ns);

/* Excludes, for good, a configuration that cannot be used. */
void site_tuner_invalid(site_tuner *t, uint32_t configuration);

/* Ends tuning: the incumbent stays. */
void site_tuner_stop(site_tuner *t);

/* Reports the state of the tuning. */
site_account site_tuner_account(const site_tuner *t);

#endif
