/* How a launch of thread-block clusters fills a GPU. Scripts estimate rounds by it.
 *
 * A cluster lies within a GPC, so that a GPU has room for fewer of them than its multiprocessors
 * would hold were they all alike. The driver's cuOccupancyMaxActiveClusters says for how many, but
 * not without a GPU. The GPCs are those of one H200, whatever the GPU: no other was looked at.
 *
 * templates/export/prelude.h says the same in exported headers;
 * tests/unit/cmd/export/test_functions.c checks that the two agree. */
#ifndef AUTOTUNE_DEVICE_CLUSTER_LOAD_H
#define AUTOTUNE_DEVICE_CLUSTER_LOAD_H

#include <stdint.h>

/* The largest arguments of cluster_load(): far more than any GPU has, and what it gives fits 64
 * bits. */
#define CLUSTER_LOAD_MOST_CLUSTERS (INT64_C(1) << 40)
enum { CLUSTER_LOAD_MOST = 1024 /* multiprocessors, blocks, resident blocks */ };

/* How many blocks the multiprocessor with the most work gets in its turn, where `clusters` clusters
 * of `blocks` blocks each are launched and every multiprocessor has room for `resident` blocks at a
 * time: as many as that in each round but the last, in the last as few as give all the rest room.
 * If not even one cluster finds room it is resident * clusters * blocks, which is more than
 * clusters that find room give, so that the least is none of these.
 *
 * All arguments are positive and at most the limits above. */
int64_t cluster_load(int64_t multiprocessors, int64_t clusters, int64_t blocks, int64_t resident);

#endif
