/* Trees of operators and operands in which equal subtrees are one node.
 *
 * Whoever adds a node gets the one that is there, if it is: two parts of expressions are equal when
 * their nodes are, and what is worked out of a node is worked out once. A tree keeps the nodes of
 * any number of expressions, until it is freed; a node never changes. The meaning of `op` is up to
 * the code that adds the node (reader.h, term.h). */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_TREE_H
#define AUTOTUNE_SCRIPT_EXPRESSION_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NODE_MOST_OPERANDS = 4 };

typedef struct node {
    int op;
    uint32_t count;
    const struct node *of[NODE_MOST_OPERANDS]; /* operands, `count` of them */
    int64_t bits;                              /* of a constant */
    const char *name;                          /* NULL: none; ends in a NUL in the tree */
    size_t length;                             /* of the name */
    bool fails;                                /* of a term: evaluating it may raise an error */
    uint32_t id;    /* how many nodes there were before it: its operands' are smaller */
    uint32_t depth; /* of operands in operands, from 1 */
} node;

typedef struct tree tree;

/* NULL: there is no memory. */
tree *tree_new(void);
void tree_free(tree *t);

/* The node of the tree that is as `*like` says (`id` and `depth` apart), whose name need not end in
 * a NUL; it borrows nothing. NULL when an operand is NULL, or for want of memory. */
const node *tree_add(tree *t, const node *like);

uint32_t tree_count(const tree *t);
/* Has memory been wanting? */
bool tree_lacks_memory(const tree *t);

#endif
