/* Control flow: where paths that part meet again.
 *
 * In: for each instruction, where it may go. Out: for each instruction with more than one successor
 * its immediate post-dominator's first instruction, the nearest point that every path to the end
 * passes: there a warp that diverged is whole again. By the iterative algorithm of Cooper, Harvey
 * and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the reversed graph of basic
 * blocks. */
#ifndef AUTOTUNE_PTX_FLOW_H
#define AUTOTUNE_PTX_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct flow_edge {
    bool falls_through;     /* to the next instruction */
    const int32_t *targets; /* and to these; borrowed */
    int32_t target_count;
} flow_edge;

/* Fills meet[i] for each of `count` instructions: the index of the instruction where its paths
 * meet, or -1 for those with one successor and for those that meet only at the end. An edge past
 * the last instruction leads to the end. */
void flow_meeting_points(const flow_edge *edges, size_t count, int32_t *meet);

#endif
