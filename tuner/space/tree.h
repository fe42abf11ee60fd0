/* The tree of a space's valid configurations. Private to this room: build.c and sample.c make the
 * tree, space.c reads it.
 *
 * A valid configuration is a path from the root to the terminal node, with a level for each
 * parameter that has more than one value. Equal subtrees are stored once (a multi-valued decision
 * diagram), so that unconnected groups of parameters need memory for the sum of their trees, not
 * for the product. Every edge leads to a configuration. */
#ifndef AUTOTUNE_SPACE_TREE_H
#define AUTOTUNE_SPACE_TREE_H

#include "base/array.h"
#include "space/space.h"

enum { NODE_TERMINAL = 0 };
#define NODE_NONE UINT32_MAX /* does not fit into an enumerator */

typedef struct space_edge {
    uint64_t before; /* number of configurations below the node's earlier edges */
    uint32_t child;
    uint16_t value;
} space_edge;

typedef struct space_node {
    uint64_t total; /* number of configurations below */
    size_t first_edge;
    uint32_t edge_count; /* edges are in ascending order of value */
} space_node;

struct space {
    space_parameter *parameters;
    size_t parameter_count;
    double *removed; /* for each constraint: space_removed() */
    size_t constraint_count;
    size_t *order; /* the parameter of each level */
    size_t level_count;
    space_node *nodes; /* children before their parents */
    size_t node_count;
    space_edge *edges;
    uint32_t root; /* NODE_NONE if the space is empty */
    bool sampled;  /* the tree has only some of the valid configurations */
    bool **used;   /* for each value of each parameter: it occurs in a configuration */
};

/* Fills nodes, edges, root and removed of a space whose parameters and `order` are set. */
at_status space_build(space *s, const space_constraint *constraints, space_test test, void *context,
                      const space_limits *limits, at_error *error);

/* Like space_build(), with up to `most` configurations, first `known` (may be NULL). */
at_status space_draw(space *s, const space_constraint *constraints, space_test test, void *context,
                     const space_limits *limits, uint64_t most, const uint16_t *known,
                     at_error *error);

/* Returns a table [constraint][level] of the levels that each constraint reads, freed by the
 * caller. Returns NULL if memory ran out. */
bool *space_reads(const space *s, const space_constraint *constraints);

/* Tests the constraints that read only parameters with one value. `*broken` is the first that
 * fails, or SIZE_MAX. Returns the status of the test. */
at_status space_test_constants(const space *s, const bool *reads, uint16_t *indices,
                               space_test test, void *context, size_t *broken, at_error *error);

/* ---- writing ---- */

/* Writes the nodes of a tree, children before their parents and equal nodes once. */
typedef struct node_writer {
    space *s;
    uint64_t most_configurations; /* limit for the configurations below a node */
    keymap unique;                /* hash of a node's edges -> node */
    size_t node_capacity, edge_capacity, edge_count;
} node_writer;

/* Makes a writer for a space without nodes, and the terminal node. `most_configurations` 0 means no
 * limit. Always call node_writer_deinit(). The space owns the nodes. AT_NO_MEMORY. */
at_status node_writer_init(node_writer *w, space *s, uint64_t most_configurations, at_error *error);
void node_writer_deinit(node_writer *w);

/* Finds or writes the node with these edges: child and value are set, values ascend. `*node` is
 * NODE_NONE if `count` is 0. AT_SCRIPT if there are too many configurations, AT_NO_MEMORY. */
at_status node_write(node_writer *w, space_edge *edges, size_t count, uint32_t *node,
                     at_error *error);

/* Returns the memory of the writer and the nodes in bytes. */
size_t node_writer_bytes(const node_writer *w);

/* Returns `array`, reallocated for `needed` items if necessary, or NULL if memory ran out. */
void *node_widen(void *array, size_t *capacity, size_t needed, size_t item_bytes);

/* Sets AT_NO_MEMORY for a tree. */
at_status node_no_memory(at_error *error);

#endif
