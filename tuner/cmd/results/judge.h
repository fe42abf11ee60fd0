/* The verdict of a comparison of two kernels' times: by the interval of their ratio, never by its
 * middle.
 */
#ifndef AUTOTUNE_CMD_RESULTS_JUDGE_H
#define AUTOTUNE_CMD_RESULTS_JUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_BLOCKS = 60 }; /* of a race that it judges */

typedef enum verdict { SAME, FASTER, SLOWER, NOT_SURE } verdict;

/* Smaller differences of recorded times do not matter: machines may differ. */
#define JUDGE_FILES_MARGIN 0.005

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

/* A median with its 95 % interval; 0: not known. */
typedef struct median_time {
    double low_ns, median_ns, high_ns;
} median_time;

/* Compares medians that were recorded apart. Without both intervals: NOT_SURE, and a ratio of 0. */
ratio judge_medians(median_time a, median_time b, double margin);

#endif
