/* The control-flow graph of a program: its basic blocks, and the points where diverged paths meet
 * again.
 *
 * A warp that diverged at an instruction reconverges at its immediate post-dominator: the nearest
 * instruction that is on all paths to the end. The post-dominators are computed by the iterative
 * algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), on the
 * reversed graph of basic blocks. */
#ifndef AUTOTUNE_SIM_DECODE_FLOW_H
#define AUTOTUNE_SIM_DECODE_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The successors of an instruction. A target past the last instruction is the program's end. */
typedef struct flow_edge {
    bool falls_through;     /* the next instruction is a successor */
    const int32_t *targets; /* further successors; borrowed */
    int32_t target_count;
} flow_edge;

/* Basic blocks and their predecessors. Block number `blocks` is the end of the program. */
typedef struct flow_graph {
    size_t count;            /* number of instructions */
    int32_t blocks;          /* number of blocks */
    int32_t *block_of;       /* block of each instruction */
    int32_t *first, *last;   /* first and last instruction of each block */
    int32_t *incoming;       /* predecessors of all blocks, block by block */
    int32_t *incoming_first; /* index in `incoming` of each block's first predecessor; one more
                                entry ends the last block */
} flow_graph;

/* Finds the basic blocks of `count` instructions. The caller calls flow_graph_deinit(). */
void flow_graph_init(flow_graph *g, const flow_edge *edges, size_t count);
void flow_graph_deinit(flow_graph *g);

/* Finds meeting points. For an instruction i with several successors, meet[i] is the first
 * instruction of its immediate post-dominator, or -1 if the paths meet only at the end. For other
 * instructions, meet[i] is -1. */
void flow_meeting_points(const flow_edge *edges, size_t count, int32_t *meet);

#endif
