/* Writes the nodes of a space's tree, children before their parents and equal ones once. Private to
 * space/build.c and space/sample.c. */
#ifndef AUTOTUNE_SPACE_NODE_H
#define AUTOTUNE_SPACE_NODE_H

#include "base/array.h"
#include "space/tree.h"

typedef struct node_writer {
    space *s;
    uint64_t most_configurations; /* below one node */
    keymap unique;                /* hash of a node's edges -> node */
    size_t node_capacity, edge_capacity, edge_count;
} node_writer;

/* A writer for a space without nodes; writes the terminal node. The caller calls
 * node_writer_deinit(), also after a failure; the nodes are the space's. AT_NO_MEMORY. */
at_status node_writer_init(node_writer *w, space *s, uint64_t most_configurations, at_error *error);
void node_writer_deinit(node_writer *w);

/* The node with these edges (child and value are set, ascending by value): an equal one that
 * exists, or a new one; NODE_NONE for no edges. AT_SCRIPT: too many configurations;
 * AT_NO_MEMORY. */
at_status node_write(node_writer *w, space_edge *edges, size_t count, uint32_t *node,
                     at_error *error);

/* Memory of the writer and the nodes, in bytes. */
size_t node_writer_bytes(const node_writer *w);

/* `array` with room for `needed` items, as realloc; NULL when memory ran out. */
void *node_widen(void *array, size_t *capacity, size_t needed, size_t item_bytes);

/* Sets the error that there is no memory for a tree. */
at_status node_no_memory(at_error *error);

#endif
