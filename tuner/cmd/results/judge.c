#include "cmd/results/judge.h"

#include <math.h>

#include "search/race/paired.h"

/* The probability that the second of two equal kernels is judged SLOWER. */
static const double tail = 0.005;

const char *judge_name(verdict v)
{
    static const char *const names[] = {"SAME", "FASTER", "SLOWER", "NOT SURE"};
    return names[v];
}

verdict judge_interval(double low, double high, double margin)
{
    if (low > 1 + margin)
        return SLOWER;
    if (high < 1 / (1 + margin))
        return FASTER;
    return low >= 1 / (1 + margin) && high <= 1 + margin ? SAME : NOT_SURE;
}

ratio judge_samples(const int64_t *a_ns, const int64_t *b_ns, size_t blocks, int64_t tick_ns,
                    double margin)
{
    double scratch[JUDGE_BLOCKS];
    blocks = blocks < JUDGE_BLOCKS ? blocks : JUDGE_BLOCKS;
    paired p = paired_compare(b_ns, a_ns, blocks, tick_ns, scratch);
    double half = paired_half_width(&p, paired_quantile(tail, blocks));
    ratio r = {.low = exp(p.mean - half), .high = exp(p.mean + half)};
    r.verdict = judge_interval(r.low, r.high, margin);
    return r;
}
