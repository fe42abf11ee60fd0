#include "device/cluster_load.h"

/* One H200 (132 multiprocessors) was asked by cuOccupancyMaxActiveClusters, and by which
 * multiprocessors clusters shared: its GPCs have 8, 16 (five of them) and 18 (two) multiprocessors,
 * and eight more are four pairs that belong to none. Two blocks find room together anywhere. More
 * multiprocessors than those of the two large GPCs and the pairs are taken for GPCs of 16 and one
 * of what is left, which is 8 there. In times of products of matrices on two more H200s, an
 * estimate with these GPCs errs less than one with seven of 16 and one of 12; of 170 products on
 * another one, six took a block more than it says, where all but a few places were taken. Other
 * GPUs were not looked at. */
enum { GPC = 16, LARGE = 18, LARGES = 2, PAIRS = 4, APART = LARGES * LARGE + 2 * PAIRS };

/* How many clusters find room where each multiprocessor takes `each` blocks. */
static int64_t slots(int64_t multiprocessors, int64_t blocks, int64_t each)
{
    /* A smaller GPU is one GPC. */
    if (blocks <= 2 || multiprocessors < APART)
        return multiprocessors * each / blocks;
    int64_t full = (multiprocessors - APART) / GPC, left = (multiprocessors - APART) % GPC;
    return LARGES * (LARGE * each / blocks) + full * (GPC * each / blocks) + left * each / blocks +
           PAIRS * (2 * each / blocks);
}

int64_t cluster_load(int64_t multiprocessors, int64_t clusters, int64_t blocks, int64_t resident)
{
    int64_t most = slots(multiprocessors, blocks, resident);
    if (most == 0)
        return resident * clusters * blocks;
    int64_t rounds = (clusters - 1) / most, rest = clusters - rounds * most, last = 1;
    while (slots(multiprocessors, blocks, last) < rest)
        last++;
    return rounds * resident + last;
}
