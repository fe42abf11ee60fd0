#include <stdlib.h>

#include "check.h"
#include "sim/decode/flow.h"

enum { MOST = 14 };

/* Tries all paths. Returns whether a path from `from` to the end avoids `at`. */
static bool reaches_end_without(const flow_edge *edges, int count, int from, int at, bool *seen)
{
    if (from == at)
        return false;
    if (from >= count)
        return true;
    if (seen[from])
        return false;
    seen[from] = true;
    if (edges[from].falls_through && reaches_end_without(edges, count, from + 1, at, seen))
        return true;
    for (int t = 0; t < edges[from].target_count; t++)
        if (reaches_end_without(edges, count, edges[from].targets[t], at, seen))
            return true;
    return !edges[from].falls_through && edges[from].target_count == 0;
}

static bool post_dominates(const flow_edge *edges, int count, int at, int from)
{
    bool seen[MOST + 1] = {false};
    return !reaches_end_without(edges, count, from, at, seen);
}

static bool can_end(const flow_edge *edges, int count, int from)
{
    bool seen[MOST + 1] = {false};
    return reaches_end_without(edges, count, from, -1, seen);
}

TEST(meeting_points_of_random_graphs_equal_brute_force)
{
    uint64_t seed = 11;
    for (int round = 0; round < 20000; round++) {
        flow_edge edges[MOST] = {{0}};
        int32_t targets[MOST][2], meet[MOST];
        int count = 2 + round % (MOST - 1);
        for (int i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned r = (unsigned)(seed >> 33);
            edges[i].falls_through = r % 5 != 0;
            edges[i].target_count = (int)(r / 5 % 3 == 0) + (int)(r / 15 % 7 == 0);
            edges[i].targets = targets[i];
            targets[i][0] = (int32_t)(r / 100 % (unsigned)(count + 1));
            targets[i][1] = (int32_t)(r / 3000 % (unsigned)(count + 1));
        }
        flow_meeting_points(edges, (size_t)count, meet);
        for (int i = 0; i < count; i++) {
            if (edges[i].target_count + edges[i].falls_through < 2) {
                assert_int_equal(meet[i], -1);
                continue;
            }
            if (!can_end(edges, count, i))
                continue;
            if (meet[i] >= 0) {
                /* The meeting point post-dominates instruction i, and no nearer instruction
                 * post-dominates it. */
                assert_true(meet[i] != i && post_dominates(edges, count, meet[i], i));
                for (int k = 0; k < count; k++)
                    if (k != i && k != meet[i] && post_dominates(edges, count, k, i) &&
                        can_end(edges, count, k))
                        assert_true(post_dominates(edges, count, k, meet[i]) ||
                                    !post_dominates(edges, count, meet[i], k) || k > meet[i]);
            } else {
                for (int k = 0; k < count; k++)
                    assert_false(k != i && post_dominates(edges, count, k, i));
            }
        }
    }
}
