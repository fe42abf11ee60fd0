/* The tuning of one site: which configuration each of its calls is to use, and when that is
 * decided.
 *
 * A pure state machine without clock, device or lock. In: calls as they begin, and the times of
 * those that were to be timed, whenever these become known. Out: a configuration for each call.
 * Most calls use the incumbent, which is the default until another is proven faster; a few are
 * trials:
 *
 *   check  The incumbent, timed: what a call costs without trials.
 *   first  Launches of a configuration that has not run before, one at a time.
 *   block  The race's (search/race/race.h), whose entrants take successive calls. It decides.
 *
 * What tuning costs: the time of each trial beyond the incumbent's, and what timing took. A trial
 * begins only if its expected cost is at most `share` of the time seen so far less what was spent;
 * the trials of a block, only if that of all of them is. A configuration that never ran is expected
 * to take as long as the worst so far, between FIRST_LEAST and FIRST_MOST times the incumbent; if
 * it takes longer, there is no further trial until the share has caught up. So the cost is above
 * the share by one such launch at most, and by the first checks, without which nothing is known.
 *
 * Spaces of more than SITE_ROUND configurations are searched in rounds: the race's winner meets its
 * neighbours until none of these is faster.
 *
 * Memory: O(configurations of a round), allocated when a round begins. Where there is none, tuning
 * stops with the incumbent. */
#ifndef AUTOTUNE_LIBRARY_SITE_TUNER_H
#define AUTOTUNE_LIBRARY_SITE_TUNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stats.h"
#include "search/race/result.h"

enum {
    SITE_ROUND = 256,    /* configurations of a round beside the incumbent */
    SITE_MOST_OPEN = 64, /* calls whose times are not told yet */
    SITE_GIVEN_UP = 4096 /* calls after which the time of one is not waited for any more */
};

/* Writes the configurations that a round is to try against the incumbent, at most `most`, and
 * returns how many; those that were tried before are ignored. */
typedef size_t site_proposer(void *context, size_t round, uint32_t incumbent, uint32_t *out,
                             size_t most);

typedef struct site_rules {
    double share;      /* of the time seen that tuning may cost, 0.02 */
    uint64_t seed;     /* of the race's orders */
    uint32_t fallback; /* the default */
    site_proposer *propose;
    void *context;
} site_rules;

typedef struct site_turn {
    uint32_t configuration;
    uint32_t incumbent; /* what to use in its place where the call turns out not to be timed */
    bool has_incumbent; /* false: no configuration is valid */
    uint64_t ticket;    /* to be told the time of; 0: the call is not timed */
} site_turn;

/* The time of a call. */
typedef struct site_sample {
    int64_t time_ns;     /* on the device; 0 or less: it could not be told */
    int64_t host_ns;     /* that the host needed from begin to end; 0: it is no matter */
    int64_t overhead_ns; /* that timing took of the host */
} site_sample;

typedef enum site_phase { SITE_TUNING, SITE_DECIDED, SITE_STOPPED } site_phase;

/* What there is to say of the tuning so far. */
typedef struct site_account {
    site_phase phase;
    uint32_t incumbent;
    bool has_incumbent; /* false: every configuration turned out to be invalid */
    uint64_t calls, trials;
    int64_t seen_ns, spent_ns; /* time of the calls; cost of the trials */
    stats_summary time;        /* of the incumbent where it was decided; count 0: it was not */
    stats_summary baseline;    /* of the default in the same race; count 0: it was not in it */
    race_verdict verdict;
} site_account;

typedef struct site_tuner site_tuner;

/* NULL: there is no memory. */
site_tuner *site_tuner_new(const site_rules *rules);
void site_tuner_free(site_tuner *t); /* NULL is fine */

/* A call begins. `may_time`: its time can be told. */
site_turn site_tuner_begin(site_tuner *t, bool may_time);

/* So many calls used the incumbent without asking. */
void site_tuner_skip(site_tuner *t, uint64_t calls);

/* Tells the time of a call, once for each ticket. One that was never told is given up after a
 * while; its time is ignored then. */
void site_tuner_end(site_tuner *t, uint64_t ticket, const site_sample *sample);

/* Tuning took this long of the host, beside the trials. */
void site_tuner_charge(site_tuner *t, int64_t ns);

/* The configuration cannot be used: it never will be again. */
void site_tuner_invalid(site_tuner *t, uint32_t configuration);

/* No more trials: the incumbent stays. */
void site_tuner_stop(site_tuner *t);

site_account site_tuner_account(const site_tuner *t);

#endif
