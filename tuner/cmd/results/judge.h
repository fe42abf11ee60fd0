/* The verdict of a race of two kernels: by the interval of the ratio of their times, never by its
 * middle. lua/lib/judge.lua judges recorded times by the same rule. */
#ifndef AUTOTUNE_CMD_RESULTS_JUDGE_H
#define AUTOTUNE_CMD_RESULTS_JUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_BLOCKS = 60 }; /* of a race that it judges */

typedef enum verdict { SAME, FASTER, SLOWER, NOT_SURE } verdict;

/* "SAME", "FASTER", "SLOWER", "NOT SURE"; static storage. */
const char *judge_name(verdict v);

typedef struct ratio {
    double low, high; /* of B's time over A's, at 99 % */
    verdict verdict;
} ratio;

/* The verdict of an interval; a relative difference below `margin` is the same. */
verdict judge_interval(double low, double high, double margin);

/* Compares samples of the same blocks (JUDGE_BLOCKS at most), from a clock of that resolution. A
 * kernel is called slower than itself at most once in two hundred times, whatever drifts between
 * the blocks. */
ratio judge_samples(const int64_t *a_ns, const int64_t *b_ns, size_t blocks, int64_t tick_ns,
                    double margin);

#endif
