/* The verdict on a race of two kernels, from the confidence interval of the ratio of their times
 * and never from its centre. lua/lib/judge.lua judges recorded times by the same rule. */
#ifndef AUTOTUNE_CMD_RESULTS_JUDGE_H
#define AUTOTUNE_CMD_RESULTS_JUDGE_H

#include <stddef.h>
#include <stdint.h>

enum { JUDGE_BLOCKS = 60 }; /* blocks of a race */

typedef enum verdict { SAME, FASTER, SLOWER, NOT_SURE } verdict;

/* Returns "SAME", "FASTER", "SLOWER" or "NOT SURE". Static storage. */
const char *judge_name(verdict v);

typedef struct ratio {
    double low, high; /* of B's time to A's, with 99 % confidence */
    verdict verdict;
} ratio;

/* Returns the verdict on an interval. Relative differences below `margin` count as equal. */
verdict judge_interval(double low, double high, double margin);

/* Compares samples of the same blocks, at most JUDGE_BLOCKS, from a clock of resolution `tick_ns`.
 * At most one in two hundred equal kernels is judged slower, even if blocks drift. */
ratio judge_samples(const int64_t *a_ns, const int64_t *b_ns, size_t blocks, int64_t tick_ns,
                    double margin);

#endif
