#include "sim/decode/flow.h"

#include <stdlib.h>

#include "base/memory.h"

static int32_t *new_numbers(size_t count, int32_t value)
{
    int32_t *n = memory_new(count, sizeof *n);
    for (size_t i = 0; i < count; i++)
        n[i] = value;
    return n;
}

static void find_blocks(flow_graph *g, const flow_edge *edges)
{
    const size_t n = g->count;
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

/* Returns successor `k` of a block, or -1 beyond the last one. */
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

void flow_graph_init(flow_graph *g, const flow_edge *edges, size_t count)
{
    *g = (flow_graph){.count = count};
    find_blocks(g, edges);
    find_predecessors(g, edges);
}

void flow_graph_deinit(flow_graph *g)
{
    free(g->block_of);
    free(g->first);
    free(g->last);
    free(g->incoming);
    free(g->incoming_first);
}

typedef struct flow_dominators {
    int32_t *order;  /* reverse post-order of the reversed graph's blocks, from the end */
    int32_t *number; /* position of each block in `order`; -1 if the block cannot reach the end */
    int32_t *dominator; /* immediate post-dominator of each block; -1 if unknown */
} flow_dominators;

/* Numbers the blocks that reach the end, depth first, against the edges. Returns how many. */
static int32_t number_blocks(const flow_graph *g, flow_dominators *p)
{
    size_t n = (size_t)g->blocks + 1;
    p->order = new_numbers(n, -1);
    p->number = new_numbers(n, -1);
    int32_t *stack = new_numbers(n, 0);
    int32_t *next = new_numbers(n, -1);
    int32_t depth = 0, done = 0;
    stack[depth++] = g->blocks;
    next[g->blocks] = g->incoming_first[g->blocks];
    while (depth > 0) {
        int32_t b = stack[depth - 1];
        if (next[b] == g->incoming_first[b + 1]) {
            p->order[done++] = b;
            depth--;
            continue;
        }
        int32_t before = g->incoming[next[b]++];
        if (next[before] < 0) {
            next[before] = g->incoming_first[before];
            stack[depth++] = before;
        }
    }
    free(next);
    free(stack);
    for (int32_t i = 0; i < done / 2; i++) {
        int32_t t = p->order[i];
        p->order[i] = p->order[done - 1 - i];
        p->order[done - 1 - i] = t;
    }
    for (int32_t i = 0; i < done; i++)
        p->number[p->order[i]] = i;
    return done;
}

/* Returns the nearest common post-dominator of two blocks. */
static int32_t intersect(const flow_dominators *p, int32_t a, int32_t b)
{
    while (a != b) {
        while (p->number[a] > p->number[b])
            a = p->dominator[a];
        while (p->number[b] > p->number[a])
            b = p->dominator[b];
    }
    return a;
}

static void find_dominators(const flow_graph *g, const flow_edge *edges, flow_dominators *p)
{
    const int32_t found = number_blocks(g, p);
    p->dominator = new_numbers((size_t)g->blocks + 1, -1);
    p->dominator[g->blocks] = g->blocks;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 1; i < found; i++) {
            int32_t b = p->order[i], best = -1;
            for (int32_t k = 0, s; (s = successor(g, edges, b, k)) >= 0; k++)
                if (p->number[s] >= 0 && p->dominator[s] >= 0)
                    best = best < 0 ? s : intersect(p, best, s);
            if (best != p->dominator[b]) {
                p->dominator[b] = best;
                changed = true;
            }
        }
    }
}

void flow_meeting_points(const flow_edge *edges, size_t count, int32_t *meet)
{
    flow_graph g;
    flow_dominators p;
    flow_graph_init(&g, edges, count);
    find_dominators(&g, edges, &p);
    for (size_t i = 0; i < count; i++) {
        int32_t b = g.block_of[i];
        meet[i] = -1;
        if (edges[i].target_count + edges[i].falls_through > 1 && p.number[b] >= 0 &&
            p.dominator[b] < g.blocks)
            meet[i] = g.first[p.dominator[b]];
    }
    flow_graph_deinit(&g);
    free(p.order);
    free(p.number);
    free(p.dominator);
}
