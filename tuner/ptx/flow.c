#include "ptx/flow.h"

#include <stdlib.h>

#include "base/memory.h"

/* Basic blocks of the graph, plus one for the end; edges as two arrays a direction. */
typedef struct flow_graph {
    size_t count;      /* instructions */
    int32_t blocks;    /* the end is block `blocks` */
    int32_t *block_of; /* instruction -> block */
    int32_t *first;    /* block -> first instruction */
    int32_t *last;
    int32_t *order;          /* reverse post-order of the reversed graph, from the end */
    int32_t *number;         /* block -> position in order; -1: cannot reach the end */
    int32_t *dominator;      /* immediate post-dominator; -1 unknown */
    int32_t *incoming;       /* predecessor lists: blocks */
    int32_t *incoming_first; /* blocks + 2 */
    int32_t *stack;
} flow_graph;

static void graph_deinit(flow_graph *g)
{
    free(g->block_of);
    free(g->first);
    free(g->last);
    free(g->order);
    free(g->number);
    free(g->dominator);
    free(g->incoming);
    free(g->incoming_first);
    free(g->stack);
}

static int32_t *new_numbers(size_t count, int32_t value)
{
    int32_t *n = memory_new(count, sizeof *n);
    for (size_t i = 0; i < count; i++)
        n[i] = value;
    return n;
}

static void find_blocks(flow_graph *g, const flow_edge *edges)
{
    size_t n = g->count;
    g->block_of = new_numbers(n + 1, 0);
    g->first = new_numbers(n + 1, 0);
    g->last = new_numbers(n + 1, 0);
    if (n > 0)
        g->block_of[0] = 1;
    for (size_t i = 0; i < n; i++) {
        for (int32_t t = 0; t < edges[i].target_count; t++)
            if ((size_t)edges[i].targets[t] < n)
                g->block_of[edges[i].targets[t]] = 1;
        if (edges[i].target_count > 0 || !edges[i].falls_through)
            g->block_of[i + 1] = 1;
    }
    int32_t block = -1;
    for (size_t i = 0; i < n; i++) {
        if (g->block_of[i])
            g->first[++block] = (int32_t)i;
        g->block_of[i] = block;
        g->last[block] = (int32_t)i;
    }
    g->blocks = block + 1;
    g->block_of[n] = g->blocks;
}

/* Successor number `k` of a block, -1 after the last. */
static int32_t successor(const flow_graph *g, const flow_edge *edges, int32_t block, int32_t k)
{
    const flow_edge *e = &edges[g->last[block]];
    int32_t at;
    if (e->falls_through && k == 0)
        at = g->last[block] + 1;
    else if (k - e->falls_through < e->target_count)
        at = e->targets[k - e->falls_through];
    else if (e->target_count == 0 && !e->falls_through && k == 0)
        at = (int32_t)g->count;
    else
        return -1;
    return g->block_of[(size_t)at > g->count ? g->count : (size_t)at];
}

static void find_predecessors(flow_graph *g, const flow_edge *edges)
{
    g->incoming_first = new_numbers((size_t)g->blocks + 2, 0);
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t k = 0, s; (s = successor(g, edges, b, k)) >= 0; k++)
            g->incoming_first[s + 1]++;
    for (int32_t b = 0; b <= g->blocks; b++)
        g->incoming_first[b + 1] += g->incoming_first[b];
    g->incoming = new_numbers((size_t)g->incoming_first[g->blocks + 1], 0);
    int32_t *next = new_numbers((size_t)g->blocks + 1, 0);
    for (int32_t b = 0; b < g->blocks; b++)
        for (int32_t k = 0, s; (s = successor(g, edges, b, k)) >= 0; k++)
            g->incoming[g->incoming_first[s] + next[s]++] = b;
    free(next);
}

/* Depth-first from the end against the edges; order becomes reverse post-order. */
static int32_t number_blocks(flow_graph *g)
{
    size_t n = (size_t)g->blocks + 1;
    g->order = new_numbers(n, -1);
    g->number = new_numbers(n, -1);
    g->stack = new_numbers(n, 0);
    int32_t *next = new_numbers(n, -1);
    int32_t depth = 0, done = 0;
    g->stack[depth++] = g->blocks;
    next[g->blocks] = g->incoming_first[g->blocks];
    while (depth > 0) {
        int32_t b = g->stack[depth - 1];
        if (next[b] == g->incoming_first[b + 1]) {
            g->order[done++] = b;
            depth--;
            continue;
        }
        int32_t p = g->incoming[next[b]++];
        if (next[p] < 0) {
            next[p] = g->incoming_first[p];
            g->stack[depth++] = p;
        }
    }
    free(next);
    for (int32_t i = 0; i < done / 2; i++) {
        int32_t t = g->order[i];
        g->order[i] = g->order[done - 1 - i];
        g->order[done - 1 - i] = t;
    }
    for (int32_t i = 0; i < done; i++)
        g->number[g->order[i]] = i;
    return done;
}

static int32_t intersect(const flow_graph *g, int32_t a, int32_t b)
{
    while (a != b) {
        while (g->number[a] > g->number[b])
            a = g->dominator[a];
        while (g->number[b] > g->number[a])
            b = g->dominator[b];
    }
    return a;
}

static void find_dominators(flow_graph *g, const flow_edge *edges, int32_t found)
{
    g->dominator = new_numbers((size_t)g->blocks + 1, -1);
    g->dominator[g->blocks] = g->blocks;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 1; i < found; i++) {
            int32_t b = g->order[i], best = -1;
            for (int32_t k = 0, s; (s = successor(g, edges, b, k)) >= 0; k++)
                if (g->number[s] >= 0 && g->dominator[s] >= 0)
                    best = best < 0 ? s : intersect(g, best, s);
            if (best != g->dominator[b]) {
                g->dominator[b] = best;
                changed = true;
            }
        }
    }
}

void flow_meeting_points(const flow_edge *edges, size_t count, int32_t *meet)
{
    flow_graph g = {.count = count};
    find_blocks(&g, edges);
    find_predecessors(&g, edges);
    find_dominators(&g, edges, number_blocks(&g));
    for (size_t i = 0; i < count; i++) {
        int32_t b = g.block_of[i];
        meet[i] = -1;
        if (edges[i].target_count + edges[i].falls_through > 1 && g.number[b] >= 0 &&
            g.dominator[b] < g.blocks)
            meet[i] = g.first[g.dominator[b]];
    }
    graph_deinit(&g);
}
