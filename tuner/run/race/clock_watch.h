/* Watches the chip's clock from block to block, and says which blocks of samples count.
 *
 * In: for every block, the clock at which it was sampled. Out: whether to keep the block or to
 * measure it again as a whole (repeating the sample of one variant alone would select times by
 * their size). If the chip stays away from its clock it is throttled: the block is kept, because
 * its samples still compare with each other, and later blocks are compared with the new clock.
 * Pure: no clock, no device, no allocation, no failure. */
#ifndef AUTOTUNE_RUN_RACE_CLOCK_WATCH_H
#define AUTOTUNE_RUN_RACE_CLOCK_WATCH_H

#include <stddef.h>
#include <stdint.h>

enum { CLOCK_WATCH_HISTORY = 64, CLOCK_WATCH_TRIES = 3 };

typedef enum clock_verdict {
    CLOCK_KEEP,     /* the block counts */
    CLOCK_REDO,     /* measure the block again */
    CLOCK_THROTTLED /* the block counts; say that the chip is throttled */
} clock_verdict;

typedef struct clock_watch {
    double history_khz[CLOCK_WATCH_HISTORY]; /* of blocks that were kept, the latest ones */
    size_t count;                            /* ever put there */
    double away_khz[CLOCK_WATCH_TRIES];      /* of the tries in a row that were not */
    size_t away;
    uint64_t redone, throttled; /* verdicts given */
} clock_watch;

void clock_watch_init(clock_watch *w);

/* Judges a block by its clock; 0 (not known) is kept. */
clock_verdict clock_watch_judge(clock_watch *w, double clock_khz);

/* The median clock of the latest blocks that were kept; 0: none was known. */
double clock_watch_median_khz(const clock_watch *w);

#endif
