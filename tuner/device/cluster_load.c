#include "device/cluster_load.h"

/* One H200 (132 multiprocessors) was asked by cuOccupancyMaxActiveClusters, and by which multiprocessors clusters
 * shared: its GPCs have 8, 16 (five of them) and 18 (two) multiprocessors, and eight more are four pairs that belong
 * to none; the times of products of matrices in clusters on two others agree. Two blocks find room together anywhere.
 * What follows takes from the number of multiprocessors alone seven GPCs of 16, one of 12 and the four pairs, which
 * has room for as many clusters of 3 to 8 blocks give or take one, with 1 to 32 resident blocks. Other GPUs were not
 * looked at. */
enum { GPC = 16, PAIRS = 4, PAIRED = 2 * PAIRS };

/* How many clusters find room where each multiprocessor takes `each` blocks. */
static int64_t slots(int64_t multiprocessors, int64_t blocks, int64_t each)
{
    /* Of a GPU with less than a full GPC beside the pairs: one GPC of all. */
    if (blocks <= 2 || multiprocessors < GPC + PAIRED)
        return multiprocessors * each / blocks;
    int64_t full = (multiprocessors - PAIRED) / GPC, left = (multiprocessors - PAIRED) % GPC;
    return full * (GPC * each / blocks) + left * each / blocks + PAIRS * (2 * each / blocks);
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
