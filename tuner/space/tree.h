/* The decision diagram of a space. Private to space/space.c (questions) and space/build.c
 * (construction).
 *
 * The valid configurations are the paths of a tree from its root to a terminal node, one level for
 * each parameter with more than one value, in search order. Subtrees that are equal are stored once
 * (the tree is a multi-valued decision diagram), so that unconnected groups of parameters cost the
 * sum of their trees, not the product. Every edge leads to at least one configuration. */
#ifndef AUTOTUNE_SPACE_TREE_H
#define AUTOTUNE_SPACE_TREE_H

#include "space/space.h"

enum { NODE_TERMINAL = 0 };
#define NODE_NONE UINT32_MAX /* more than an enumerator can hold */

typedef struct space_edge {
    uint64_t before; /* configurations below the node's earlier edges */
    uint32_t child;
    uint16_t value;
} space_edge;

typedef struct space_node {
    uint64_t total; /* configurations below it */
    size_t first_edge;
    uint32_t edge_count; /* in ascending order of value */
} space_node;

struct space {
    space_parameter *parameters;
    size_t parameter_count;
    double *removed; /* one for each constraint */
    size_t constraint_count;
    size_t *order; /* the parameter bound at each level */
    size_t level_count;
    space_node *nodes; /* children before their parents */
    size_t node_count;
    space_edge *edges;
    uint32_t root; /* NODE_NONE: the space is empty */
    bool sampled;  /* the tree holds some of the valid configurations; removed is not known */
    bool **used;   /* by parameter and value: does it occur? */
};

/* Fills nodes, edges, root and removed. `order` and the parameters must be set. */
at_status space_build(space *s, const space_constraint *constraints, space_test test, void *context,
                      const space_limits *limits, at_error *error);

/* Like space_build, for a sample of `most` valid configurations, `known` (NULL: none), which must
 * be valid, the first. */
at_status space_draw(space *s, const space_constraint *constraints, space_test test, void *context,
                     const space_limits *limits, uint64_t most, const uint16_t *known,
                     at_error *error);

/* Fills order and level_count: connected groups one after the other, and within a group the
 * parameters that complete a constraint soonest first. */
at_status space_choose_order(space *s, const space_constraint *constraints, at_error *error);

#endif
