/* The verdict on a race of two kernels. It depends on the bounds of the confidence interval of the
 * ratio of their times, not on its centre. lua/lib/judge.lua has the rule for recorded times. */
#ifndef AUTOTUNE_CMD_RESULTS_JUDGE_H
#define AUTOTUNE_CMD_RESULTS_JUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_BLOCKS = 60 }; /* blocks of a race */

typedef enum verdict { SAME, FASTER, SLOWER, NOT_SURE } verdict;

/* Returns "SAME", "FASTER", "SLOWER" or "NOT SURE". Static storage. */
const char *judge_name(verdict v);

typedef struct ratio {
    double low, high; /* 99 % confidence interval of B's time / A's time */
    verdict verdict;
} ratio;

/* Returns the verdict on the interval of a ratio. Ratios within 1 +- `margin` count as equal. */
verdict judge_interval(double low, double high, double margin);

/* Compares samples of the same blocks, at most JUDGE_BLOCKS, from a clock of resolution `tick_ns`.
 * Two equal kernels get the verdict SLOWER in at most one of 200 calls, even if times drift. */
ratio judge_samples(const int64_t *a_ns, const int64_t *b_ns, size_t blocks, int64_t tick_ns,
                    double margin);

#endif
