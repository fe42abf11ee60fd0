/* The race: which of many kernels is fastest, from as few samples as a sound answer allows.
 *
 * A pure state machine: no clock, no device, no I/O. race_next() gives the caller a block (an order
 * of entrants); the caller times each entrant once in that order, one right after the other, and
 * tells the samples. Entrants are compared only by samples of the same block, so that drift of the
 * machine between blocks has no influence. A block depends only on the entrants, the options, the
 * seed and the samples told so far: telling the samples of a journal again brings a race back to
 * where it was.
 *
 * Stages, each on the entrants that the one before left:
 *   prior   Entrants whose fastest earlier sample is far above the best's are out, unmeasured, and
 *           on request all but the fastest few.
 *   probe   With hundreds of entrants that have an earlier sample, the fastest by these, and others
 *           spread over the rest, are sampled in a few blocks, which show how large the error of
 *           earlier samples is. Entrants that would be slower than the fastest even with the
 * largest error seen are out. The probe's samples are not used again. screen  While there are too
 * many, or entrants without an earlier sample: whole rounds, after which those far above the best
 * are out. The margin narrows with the rounds. heats   Blocks of one sample of every survivor in a
 * fresh random order. After 4, 8, 16 and 32 blocks those that are slower than the leader by a
 * one-sided test are out. finals  The best few and the default, which is never dropped before, are
 * sampled anew in balanced order. Only these samples decide, so that luck in earlier stages does
 * not count. A default all of whose samples are far above those of the fastest leaves after a few
 * blocks, and is ranked by these. Samples of screen and heats are one series: a survivor's
 * screening rounds count as heats.
 *
 * Memory: everything is allocated by race_new(), some 600 bytes an entrant. Time: a block costs
 * O(survivors), a look O(survivors log blocks). */
#ifndef AUTOTUNE_RACE_H
#define AUTOTUNE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/race/result.h"

#define RACE_NO_DEFAULT UINT32_MAX

enum { RACE_LOOKS = 4 };

typedef struct race_options {
    uint64_t seed;
    uint32_t default_entrant; /* the script's baseline; RACE_NO_DEFAULT: none */
    double prior_ratio;       /* out when the earlier fastest is above this times the best's */
    size_t prior_entrants; /* more than this many are out, the slowest by their earlier fastest; 0:
                              no limit */
    double screen_ratio;   /* out when the fastest of two rounds is above this */
    size_t heats_entrants; /* more than this many survivors are screened further */
    size_t looks[RACE_LOOKS]; /* blocks after which heats are judged, ascending */
    double alpha;             /* chance, over a whole race, that the best is dropped in heats */
    size_t finalists;         /* the default comes on top, ... */
    double default_ratio;     /* ... unless its earlier fastest is above this times the best's; 0:
                                 always */
    size_t finals_blocks;     /* rounded up so that the order is balanced */
    double tie_margin;        /* relative; what is not slower by more than this is tied */
    double choice_margin;     /* relative; among tied entrants this close, race_entrant decides */
    int64_t tick_ns;          /* resolution of the clock; 0: finer than it matters */
} race_options;

/* The constants of the protocol, with their sources in race.c; seed 0 and no default. */
race_options race_defaults(void);

/* A race of more entrants than this, each with an earlier sample, begins with a probe. */
size_t race_probe_pays(const race_options *o);

typedef struct race_entrant {
    int64_t fastest_ns;    /* fastest of earlier samples of this entrant; 0: none were taken */
    uint32_t registers;    /* among tied entrants, fewer registers win, ... */
    uint32_t shared_bytes; /* ... then less shared memory, ... */
    uint64_t order;        /* ... then the lower of this (the configuration's number, say) */
} race_entrant;

/* Starts a race between `count` entrants (copied; at least one). NULL: there is no memory. */
race *race_new(const race_options *options, const race_entrant *entrants, size_t count);
void race_free(race *r); /* NULL is fine */

/* The next block: *order (borrowed until the block is told) receives the entrants to sample, each
 * once, in this order. Returns how many; 0 when the race has finished. Asking again without telling
 * gives the same block. */
size_t race_next(race *r, const uint32_t **order);

/* How many blocks, the next included, the race asks of the same entrants before it judges them,
 * unless one fails: others may sample them meanwhile, for a block compares within itself. 1 in the
 * finals, whose samples are one series; 0 when the race has finished. */
size_t race_blocks_alike(const race *r);

/* Tells the block's samples, in the order asked. A sample of 0 or less means that this entrant
 * failed: it leaves the race, the others' samples count. */
void race_tell(race *r, const int64_t *samples_ns);

/* An entrant turned out to be unfit (a later check failed); also after the race has finished. */
void race_exclude(race *r, uint32_t entrant);

/* No further blocks: out of time, or interrupted. The verdict is inconclusive unless the race had
 * finished. */
void race_stop(race *r);

/* The stage of the next block, the samples told so far, and at most how many more the race takes
 * with its present entrants (for a progress line); either pointer may be NULL. */
race_stage race_progress(const race *r, uint64_t *done, uint64_t *left);

#endif
