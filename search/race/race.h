/* The race: finds the fastest of many kernels from as few samples as a sound answer allows.
 *
 * A pure state machine without clock, device or I/O. race_next() gives the caller a block, which is
 * an order of entrants. The caller times each entrant once in that order, one right after the
 * other, and tells the samples. Entrants are compared only by samples of the same block, so that
 * drift of the machine between blocks has no influence. A block depends only on the entrants, the
 * options, the seed and the samples told so far: telling the samples of a journal again restores a
 * race.
 *
 * Each stage begins with the entrants that the stage before left:
 * "prior" drops, without measuring, entrants whose fastest earlier sample is far above the best,
 * and on request all but a limited number of the fastest.
 * "probe" runs if there are hundreds of entrants, all with an earlier sample. A few blocks of the
 * fastest, and of others spread over the rest, show how large the errors of earlier samples are.
 * Entrants that would be slower than the fastest even with the largest error are dropped.
 * "screen" samples whole rounds while there are too many entrants, or some without an earlier
 * sample, and drops entrants far above the best. The margin narrows with the rounds.
 * "heats" sample every entrant in a new random order per block. After 4, 8, 16 and 32 blocks,
 * entrants that are slower than the leader by a one-sided test are dropped. Screening rounds count.
 * "finals" sample the best few again, in balanced order, and the default until it proves hopelessly
 * slow. Only these samples decide, so that luck in earlier stages does not count.
 *
 * race_new() allocates all memory, about 600 bytes per entrant. A block costs O(entrants), a look
 * of the heats O(entrants log blocks). */
#ifndef AUTOTUNE_RACE_H
#define AUTOTUNE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stats.h"

typedef struct race race;

#define RACE_NO_DEFAULT UINT32_MAX

enum { RACE_LOOKS = 4 };

typedef struct race_options {
    uint64_t seed;
    uint32_t default_entrant; /* the script's baseline, or RACE_NO_DEFAULT */
    double prior_ratio;       /* prior: largest ratio of the fastest earlier sample to the lowest of
                               * all */
    size_t prior_entrants;    /* prior: most entrants that stay; 0 for no limit */
    double screen_ratio;      /* screen: largest ratio of the fastest of two samples to the lowest
                               * of all */
    size_t heats_entrants;    /* most entrants of the heats */
    size_t looks[RACE_LOOKS]; /* numbers of blocks after which heats are judged, ascending */
    double alpha;             /* probability, over a whole race, that the heats drop the best */
    size_t finalists;         /* most finalists without the default */
    double
        default_ratio;    /* largest ratio of the default's fastest earlier sample to the lowest of
                             all; above it, the default takes no part in the finals. 0 for no limit */
    size_t finals_blocks; /* blocks of the finals, rounded up to whole balanced designs */
    double tie_margin;    /* relative difference up to which entrants are tied */
    double choice_margin; /* relative difference up to which `registers` ... decide among tied */
    int64_t tick_ns;      /* resolution of the clock; 0 if it does not matter */
} race_options;

/* Returns the default options, with seed 0 and no default entrant. race.c has their sources. */
race_options race_defaults(void);

/* Returns the number of entrants with earlier samples above which a race begins with a probe. */
size_t race_probe_pays(const race_options *o);

typedef struct race_entrant {
    int64_t fastest_ns; /* fastest earlier sample; 0 without one */
    /* Among tied entrants the lower value wins, in this order. */
    uint32_t registers;
    uint32_t shared_bytes;
    uint64_t order; /* such as the number of the configuration */
} race_entrant;

typedef enum race_stage {
    RACE_PRIOR,
    RACE_PROBE,
    RACE_SCREEN,
    RACE_HEATS,
    RACE_FINALS,
    RACE_FINISHED
} race_stage;

typedef enum race_verdict {
    RACE_CLEAR,       /* all others are significantly slower, by more than the tie margin */
    RACE_TIED,        /* some others are not significantly slower */
    RACE_INCONCLUSIVE /* the race was stopped early; the winner is the best so far */
} race_verdict;

/* The standing of an entrant. Ratios are its time / the time of the fastest in the same blocks. */
typedef struct race_standing {
    uint32_t entrant;
    race_stage left_at; /* last stage in which it took part */
    bool failed;        /* excluded, or a sample failed */
    bool tied;          /* not significantly slower than the fastest; true for the fastest */
    double ratio;       /* trimmed mean; 1 for the fastest */
    double low, high;   /* one-sided bounds of the ratio; 0 and INFINITY with too few samples */
    stats_summary time; /* samples of its last stage; if their count is 0, only median_ns is set, to
                           the earlier fastest sample */
} race_standing;

typedef struct race_result {
    bool has_winner;  /* false if every entrant failed */
    uint32_t winner;  /* the choice among the tied entrants */
    uint32_t fastest; /* entrant with the lowest trimmed mean */
    race_verdict verdict;
    size_t tied; /* number of other entrants that are not significantly slower than the fastest */
    double half_width; /* relative half width of the deciding interval: the widest among tied
                          entrants, or the runner-up's; INFINITY without an interval */
    bool noisy;        /* half_width exceeds the difference to the runner-up */
    race_stage stage;  /* current stage */
    size_t blocks;     /* number of blocks told */
    uint64_t samples;  /* number of samples told */
    /* all entrants: the winner, then the finalists, the others and the failed, each by ratio */
    const race_standing *ranking;
    size_t count;
} race_result;

/* Returns the result so far, final after race_next() returned 0, valid until the race changes. */
const race_result *race_conclude(race *r);

/* Returns "prior", "probe", "screen", "heats", "finals" or "finished". */
const char *race_stage_name(race_stage stage);

/* Starts a race between `count` > 0 entrants, which are copied. Returns NULL if memory ran out. */
race *race_new(const race_options *options, const race_entrant *entrants, size_t count);

/* Frees a race. `r` may be NULL. */
void race_free(race *r);

/* Returns the number of entrants of the next block, 0 if the race has finished. `*order` gets their
 * order, borrowed until the block is told. Until then the block stays the same. */
size_t race_next(race *r, const uint32_t **order);

/* Returns the number of blocks, the next included, that have the same entrants unless one fails.
 * Other devices may sample these blocks. Returns 1 in the finals, whose samples are one series, and
 * 0 if the race has finished. */
size_t race_blocks_ahead(const race *r);

/* Tells the samples of the block in its order. A sample of 0 or less means that the entrant
 * failed. */
void race_tell(race *r, const int64_t *samples_ns);

/* Removes an entrant that a later check rejected, also after the race has finished. */
void race_exclude(race *r, uint32_t entrant);

/* Stops the race. The verdict is RACE_INCONCLUSIVE unless it had finished. */
void race_stop(race *r);

/* Returns the stage of the next block. `*done` gets the number of samples so far, `*left` the most
 * that may follow with the current entrants. Both may be NULL. */
race_stage race_progress(const race *r, uint64_t *done, uint64_t *left);

#endif
