/* Expressions as trees of operators and operands, and the reader of Lua's expressions. Equal
 * subtrees are one node, which never changes, so a result for a node is computed once. A tree keeps
 * the nodes of any number of expressions until it is freed. `op` is a node_op, or a term_op for the
 * nodes of term.c. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_TREE_H
#define AUTOTUNE_SCRIPT_EXPRESSION_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "script/expression/lexer.h"

enum { NODE_MOST_OPERANDS = 4 };

typedef struct node {
    int op;
    uint32_t count;                            /* number of operands */
    const struct node *of[NODE_MOST_OPERANDS]; /* operands */
    int64_t bits;                              /* value of a constant */
    const char *name;                          /* owned by the tree, NUL-terminated; may be NULL */
    size_t length;                             /* length of `name` */
    bool fails;                                /* for a term: evaluating it may raise an error */
    uint32_t id;    /* number of nodes that were added before; operands have smaller ids */
    uint32_t depth; /* levels of operands below this node, plus 1 */
} node;

typedef struct tree tree;

/* Returns NULL if memory is short. */
tree *tree_new(void);
void tree_free(tree *t);

/* Returns the node that equals `*like` (except `id` and `depth`), and adds it if it is missing.
 * Copies the name, which need not end with NUL. NULL if an operand is NULL or memory is short. */
const node *tree_add(tree *t, const node *like);

/* Returns the number of nodes. */
uint32_t tree_count(const tree *t);

/* Tells whether any call of tree_add() ran out of memory. */
bool tree_lacks_memory(const tree *t);

typedef enum node_op {
    NODE_NONE, /* nil; also the end of a list */
    NODE_TRUTH,
    NODE_WHOLE,   /* integer `bits` */
    NODE_NUMBER,  /* double, in `bits` */
    NODE_TEXT,    /* string `name`, without quotes */
    NODE_LUA,     /* source text that only Lua evaluates: tables, methods, long texts */
    NODE_NAME,    /* a name that is no input, device field or derived value */
    NODE_INPUT,   /* a parameter or variable whose value the expression gets */
    NODE_DEVICE,  /* a field of `device` */
    NODE_DERIVED, /* derived value `name`, defined by of[0] */
    NODE_FIELD,   /* field `name` of of[0] */
    NODE_CALL,    /* call of the function of[0] with the list of[1] */
    NODE_LIST,    /* list of[0] (or NODE_NONE) with one more item, of[1] */
    NODE_OR,
    NODE_AND,
    NODE_LESS,
    NODE_AT_MOST,
    NODE_GREATER,
    NODE_AT_LEAST,
    NODE_EQUAL,
    NODE_UNEQUAL,
    NODE_BIT_OR,
    NODE_BIT_XOR,
    NODE_BIT_AND,
    NODE_SHIFT_LEFT,
    NODE_SHIFT_RIGHT,
    NODE_JOIN,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE, /* division whose result may have a fraction */
    NODE_FLOOR_DIVIDE,
    NODE_REMAINDER,
    NODE_POWER,
    NODE_NOT,
    NODE_NEGATE,
    NODE_BIT_NOT,
    NODE_LENGTH,
    NODE_OPS
} node_op;

/* The caller's functions, which make nodes of names in the order of the text, or return NULL for an
 * unknown name. `next` is the token after the name. `field` is only called for fields of a
 * NODE_NAME. */
typedef struct reader_names {
    void *context;
    const node *(*name)(void *context, tree *t, token name, token next);
    const node *(*field)(void *context, tree *t, const node *of, token name);
} reader_names;

/* Make a NODE_NAME, or a NODE_FIELD of the node `of`. Callers use them for names that need no other
 * kind of node. */
const node *reader_plain_name(tree *t, token name);
const node *reader_plain_field(tree *t, const node *of, token name);

/* Reads a Lua expression without functions. The reader accepts some texts that Lua refuses, so Lua
 * has to check the text, too. Returns the root, or NULL if the text is no expression, a name is
 * unknown, or memory is short. */
const node *reader_read(tree *t, const char *text, const reader_names *names);

#endif
