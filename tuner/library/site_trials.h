/* The parts of a site's tuner that know no configuration: the open trials; the budget, a share of
 * the time of the site's calls; and the race of a round (search/race/race.h), with the samples that
 * successive calls make. */
#ifndef AUTOTUNE_LIBRARY_SITE_TRIALS_H
#define AUTOTUNE_LIBRARY_SITE_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "library/site_tuner.h"
#include "search/race/race.h"

/* ---- open trials ---- */

typedef enum site_trial_kind {
    TRIAL_CHECK, /* the incumbent, timed */
    TRIAL_FIRST, /* a launch of a configuration that has not run before */
    TRIAL_BLOCK  /* a call in a block of the race */
} site_trial_kind;

typedef struct site_trial {
    uint64_t ticket;
    site_trial_kind kind;
    uint32_t place; /* entrant's index in the round (TRIAL_FIRST) or block (TRIAL_BLOCK) */
    uint64_t begun; /* number of the call that began the trial */
} site_trial;

/* Trials that have begun and whose time is not known yet. */
typedef struct site_open_trials {
    site_trial items[SITE_MOST_OPEN];
    size_t count;
    uint64_t tickets; /* number of tickets given out so far */
} site_open_trials;

/* Adds a trial; there must be room. Returns its ticket. */
uint64_t site_trials_open(site_open_trials *t, site_trial_kind kind, uint32_t place, uint64_t call);
/* Returns the number of open trials of this kind. */
size_t site_trials_count(const site_open_trials *t, site_trial_kind kind);

/* Removes and returns trial `i`. */
site_trial site_trials_close(site_open_trials *t, size_t i);

/* Drops the trials of this kind. Their times, if they arrive later, only count as spent. */
void site_trials_forget(site_open_trials *t, site_trial_kind kind);

/* ---- the budget ---- */

enum {
    SITE_BUDGET_RECENT = 8, /* recent times of the incumbent that are kept */
    SITE_BUDGET_KNOWN = 3   /* times after which the incumbent's time is taken as known */
};

typedef struct site_budget {
    int64_t recent[SITE_BUDGET_RECENT];
    size_t recent_count, recent_next;
    int64_t typical_ns, low_ns, high_ns, mean_ns; /* median, quartiles, moving mean */
    uint64_t uncounted;                           /* calls before the incumbent's time was known */
    int64_t seen_ns, spent_ns;                    /* time of all calls; cost of the trials */
    int64_t overhead_ns;                          /* mean overhead of timing a call */
    int64_t share_ppm;
} site_budget;

/* Returns a budget for `share` of the time of all calls. */
site_budget site_budget_of(double share);

/* Forgets the recent times, because the incumbent changes. */
void site_budget_forget(site_budget *b);

/* Adds a time of the incumbent. */
void site_budget_note(site_budget *b, int64_t time_ns);

/* Returns whether the incumbent's time is known by now. */
bool site_budget_is_known(const site_budget *b);

/* Return the fastest recent time, and the spread of the recent times: third quartile over first. */
int64_t site_budget_fastest_ns(const site_budget *b);
double site_budget_spread(const site_budget *b);

/* Return the time that all trials may cost, and the part that is left; negative if exceeded. */
int64_t site_budget_allowed_ns(const site_budget *b);
int64_t site_budget_left_ns(const site_budget *b);

/* Counts calls that used the incumbent and were not timed. */
void site_budget_count_untimed(site_budget *b, uint64_t calls);

/* Counts the time of a timed call as seen, and its excess over the incumbent's mean as spent.
 * `*extra_ns` sums the excess over an entrant's calls, so that fast and slow calls cancel out;
 * `extra_ns` is NULL for the incumbent. */
void site_budget_pay(site_budget *b, int64_t *extra_ns, const site_sample *s);

/* Adds a measurement of the host time that timing a call takes. */
void site_budget_note_overhead(site_budget *b, int64_t ns);

/* ---- the race ---- */

enum { SITE_RACE_MOST_CALLS = 256 };

/* The sample of an entrant in a block: the numbers of begun calls and of known times. */
typedef struct site_slot {
    uint32_t begun, told;
} site_slot;

/* The race of a round. Of the entrants of a block, the entrant with the fewest calls makes the next
 * call. A sample consists of `calls_each` calls of one entrant. Its value is the mean of the
 * fastest calls, because other streams and programs only add time. `race` is NULL and `block_count`
 * is 0 while there is no race, or no block. */
typedef struct site_race {
    race *race;
    uint32_t *places; /* index of each entrant in the round */
    size_t count, blocks;
    uint32_t calls_each; /* calls per sample */
    uint64_t races;      /* number of races in all rounds */
    const uint32_t *block;
    size_t block_count, block_told;
    site_slot *slots;    /* one for each entrant of the block */
    int64_t *fastest_ns; /* fastest times of each slot, ascending */
    int64_t *samples;
} site_race;

/* Allocates memory for at most `most` entrants. Returns false if memory ran out.
 * site_race_release() frees it, and the race. */
bool site_race_reserve(site_race *r, size_t most);
void site_race_release(site_race *r);

/* Starts a race of the `count` entrants in r->places. Returns false if memory ran out. */
bool site_race_start(site_race *r, const race_options *options, const race_entrant *entrants,
                     size_t count);
/* Ends the race, but keeps the memory of the round. */
void site_race_stop(site_race *r);

/* Draws the next block. Returns false if the race is over. */
bool site_race_draw(site_race *r);

/* Returns the index in the round of the entrant at `place` in the block. */
uint32_t site_race_entrant(const site_race *r, size_t place);

/* Finds the entrant, by its index in the block, that makes the next call. Sets `*is_round` to
 * whether all entrants have made the same number of calls. Returns false if all calls of the block
 * have begun. */
bool site_race_next(const site_race *r, size_t *place, bool *is_round);
/* Counts a call of the entrant at `place` in the block as begun. */
void site_race_begin(site_race *r, size_t place);

/* Counts a begun call, which gave no time, as not begun. */
void site_race_reopen(site_race *r, size_t place);

/* Counts all calls of the block as not begun. */
void site_race_begin_anew(site_race *r);

/* Removes an entrant from the race, and abandons the block. */
void site_race_exclude(site_race *r, size_t place_in_round);

/* Adds the time of a call. Returns true if the block is complete: the race then has its samples. */
bool site_race_tell(site_race *r, size_t place, int64_t time_ns);

#endif
