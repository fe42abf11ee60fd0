#include "space/tree.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

bool *space_reads(const space *s, const space_constraint *constraints)
{
    bool *reads = calloc(s->constraint_count * s->level_count + 1, sizeof *reads);
    for (size_t c = 0; reads && c < s->constraint_count; c++)
        for (size_t l = 0; l < s->level_count; l++)
            for (size_t i = 0; i < constraints[c].parameter_count; i++)
                if (constraints[c].parameters[i] == s->order[l])
                    reads[c * s->level_count + l] = true;
    return reads;
}

at_status space_test_constants(const space *s, const bool *reads, uint16_t *indices,
                               space_test test, void *context, size_t *broken, at_error *error)
{
    *broken = SIZE_MAX;
    for (size_t c = 0; c < s->constraint_count && *broken == SIZE_MAX; c++) {
        space_question question = {c, indices, 0, &(uint16_t){0}, 1};
        bool holds = true;
        if (s->level_count && memchr(reads + c * s->level_count, true, s->level_count))
            continue;
        at_status status = test(context, &question, &holds, error);
        if (status)
            return status;
        if (!holds)
            *broken = c;
    }
    return AT_OK;
}

at_status node_no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY,
                     "no memory for the space's tree: constrain the space more");
}

void *node_widen(void *array, size_t *capacity, size_t needed, size_t item_bytes)
{
    if (array && needed <= *capacity)
        return array;
    size_t wider = *capacity ? *capacity : 64;
    while (wider < needed)
        wider *= 2;
    void *moved = realloc(array, wider * item_bytes);
    if (moved)
        *capacity = wider;
    return moved;
}

static bool same_node(const space *s, size_t node, const space_edge *edges, size_t count)
{
    if (s->nodes[node].edge_count != count)
        return false;
    size_t first = s->nodes[node].first_edge;
    for (size_t i = 0; i < count; i++)
        if (s->edges[first + i].child != edges[i].child ||
            s->edges[first + i].value != edges[i].value)
            return false;
    return true;
}

static uint64_t hash_edges(const space_edge *edges, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t edge = (uint64_t)edges[i].child << 16 | edges[i].value;
        hash = XXH3_64bits_withSeed(&edge, sizeof edge, hash);
    }
    return hash;
}

/* Sets `before` of each edge. `*total` gets the number of all configurations. */
static at_status count_edges(node_writer *w, space_edge *edges, size_t count, uint64_t *total,
                             at_error *error)
{
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        edges[i].before = *total;
        if (__builtin_add_overflow(*total, w->s->nodes[edges[i].child].total, total) ||
            *total > w->most_configurations)
            return error_set(error, AT_SCRIPT,
                             "the space has more than %llu valid configurations: constrain it more",
                             (unsigned long long)w->most_configurations);
    }
    return AT_OK;
}

static at_status append_node(node_writer *w, const space_edge *edges, size_t count, uint64_t total,
                             uint32_t *node, at_error *error)
{
    space *s = w->s;
    if (s->node_count >= NODE_NONE)
        return node_no_memory(error);
    space_node *nodes =
        node_widen(s->nodes, &w->node_capacity, s->node_count + 1, sizeof *s->nodes);
    if (!nodes)
        return node_no_memory(error);
    s->nodes = nodes;
    space_edge *all =
        node_widen(s->edges, &w->edge_capacity, w->edge_count + count, sizeof *s->edges);
    if (!all)
        return node_no_memory(error);
    s->edges = all;
    if (count)
        memcpy(all + w->edge_count, edges, count * sizeof *edges);
    *node = (uint32_t)s->node_count++;
    nodes[*node] =
        (space_node){.total = total, .first_edge = w->edge_count, .edge_count = (uint32_t)count};
    w->edge_count += count;
    return AT_OK;
}

at_status node_write(node_writer *w, space_edge *edges, size_t count, uint32_t *node,
                     at_error *error)
{
    *node = NODE_NONE;
    if (count == 0)
        return AT_OK;
    uint64_t hash = hash_edges(edges, count), known;
    if (keymap_get(&w->unique, hash, &known) && same_node(w->s, (size_t)known, edges, count)) {
        *node = (uint32_t)known;
        return AT_OK;
    }
    uint64_t total;
    at_status status = count_edges(w, edges, count, &total, error);
    if (!status)
        status = append_node(w, edges, count, total, node, error);
    if (!status && !keymap_put(&w->unique, hash, *node))
        status = node_no_memory(error);
    return status;
}

at_status node_writer_init(node_writer *w, space *s, uint64_t most_configurations, at_error *error)
{
    uint32_t terminal;
    *w = (node_writer){
        .s = s, .most_configurations = most_configurations ? most_configurations : UINT64_MAX};
    return append_node(w, NULL, 0, 1, &terminal, error);
}

void node_writer_deinit(node_writer *w)
{
    keymap_deinit(&w->unique);
}

size_t node_writer_bytes(const node_writer *w)
{
    return w->node_capacity * sizeof(space_node) + w->edge_capacity * sizeof(space_edge) +
           keymap_bytes(&w->unique);
}
