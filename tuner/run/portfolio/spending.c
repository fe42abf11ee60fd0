#include "run/portfolio/spending.h"

/* Variants that there is time for on each problem. */
static double affordable(double left_s, size_t problems, double variant_s)
{
    return left_s / (double)(problems ? problems : 1) / variant_s;
}

size_t spending_search(double left_s, size_t problems, double variant_s, uint64_t normal)
{
    double most = affordable(left_s, problems, variant_s);
    size_t evaluations = SPENDING_LEAST_SEARCHED;
    if (most >= (double)normal)
        return 0;
    while ((double)(2 * evaluations) <= most)
        evaluations *= 2;
    return evaluations;
}

size_t spending_everywhere(double left_s, size_t problems, double variant_s)
{
    double most = affordable(left_s, problems, variant_s);
    size_t count = SPENDING_LEAST_EVERYWHERE;
    while (count < SPENDING_MOST_EVERYWHERE && (double)(count + SPENDING_LEAST_EVERYWHERE) <= most)
        count += SPENDING_LEAST_EVERYWHERE;
    return count;
}
