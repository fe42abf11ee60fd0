/* Compares cluster_load() with a simulation that places clusters one by one. */
#include "check.h"

#include "base/rng.h"
#include "device/arch.h"

TEST(an_h200_takes_this_many_clusters_in_a_round)
{
    static const struct {
        int64_t multiprocessors, clusters, blocks, resident, load;
    } cases[] = {
        {132, 1, 8, 1, 1},
        {132, 15, 8, 1, 1}, /* two clusters in each of seven GPCs, and one in the GPC of 8 SMs */
        {132, 16, 8, 1, 2},
        {132, 16, 8, 2, 2},
        {132, 66, 2, 1, 1}, /* a cluster of two blocks fits on every pair of SMs */
        {132, 67, 2, 1, 2},
        {132, 132, 1, 1, 1},
        {132, 133, 1, 4, 2},
        {132, 4 * 132 + 1, 1, 4, 5},
        {132, 30, 4, 1, 1},
        {132, 31, 4, 2, 2},
        {132, 17, 6, 1, 1}, /* three clusters in each GPC of 18 SMs */
        {132, 18, 6, 1, 2},
        {16, 2, 8, 1, 1}, /* the GPU has a single GPC */
        {43, 43, 3, 3, 3},
        {43, 15, 3, 1, 2},
        {44, 9, 4, 1, 2},        /* two GPCs of 18 SMs hold 8 clusters; pairs hold none */
        {4, 3, 8, 1, 1 * 3 * 8}, /* no cluster fits */
        {1024, INT64_C(1) << 40, 1, 1024, INT64_C(1) << 30},
        {1, INT64_C(1) << 40, 1024, 1023, 1023 * (INT64_C(1) << 50)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cluster_load(cases[i].multiprocessors, cases[i].clusters, cases[i].blocks,
                                      cases[i].resident),
                         cases[i].load);
}

/* Places clusters in GPCs of gpcs[i] SMs until none fits. `each` is the number of blocks for
 * each SM. Returns the number of clusters. */
static int64_t placed(const int *gpcs, int count, int blocks, int each)
{
    int64_t clusters = 0;
    for (int i = 0; i < count; i++)
        for (int room = gpcs[i] * each; room >= blocks; room -= blocks)
            clusters++;
    return clusters;
}

/* Divides a GPU into GPCs for clusters of `blocks` blocks. Returns the number of GPCs. */
static int divide(int multiprocessors, int blocks, int *gpcs)
{
    int count = 0;
    if (blocks > 2 && multiprocessors >= 44) {
        for (int pair = 0; pair < 4; pair++, multiprocessors -= 2)
            gpcs[count++] = 2;
        for (int large = 0; large < 2; large++, multiprocessors -= 18)
            gpcs[count++] = 18;
        for (; multiprocessors > 16; multiprocessors -= 16)
            gpcs[count++] = 16;
    }
    gpcs[count++] = multiprocessors;
    return count;
}

TEST(clusters_run_in_rounds_and_the_last_is_spread)
{
    rng r = rng_seeded(5);
    for (int i = 0; i < 20000; i++) {
        int gpcs[32], blocks = 1 + (int)rng_below(&r, 16), resident = 1 + (int)rng_below(&r, 32);
        int multiprocessors = 1 + (int)rng_below(&r, 200), clusters = 1 + (int)rng_below(&r, 5000);
        int count = divide(multiprocessors, blocks, gpcs);
        int64_t most = placed(gpcs, count, blocks, resident), left = clusters, load = 0, last = 1;
        for (; most > 0 && left > most; left -= most)
            load += resident;
        while (most > 0 && placed(gpcs, count, blocks, (int)last) < left)
            last++;
        load = most > 0 ? load + last : (int64_t)resident * clusters * blocks;
        assert_int_equal(cluster_load(multiprocessors, clusters, blocks, resident), load);
    }
}

/* The numbers of SMs per GPC were measured on an H200. */
TEST(an_h200_has_room_for_as_many_clusters_as_measured)
{
    static const int measured[] = {8, 16, 16, 16, 16, 16, 18, 18, 2, 2, 2, 2};
    for (int blocks = 3; blocks <= 8; blocks++)
        for (int each = 1; each <= 32; each++) {
            int64_t room = placed(measured, sizeof measured / sizeof *measured, blocks, each);
            assert_int_equal(cluster_load(132, room, blocks, each), each);
            assert_int_equal(cluster_load(132, room + 1, blocks, each), each + 1);
        }
}
