/* Reads Lua's expressions into a tree: all that Lua takes but functions. Texts that Lua refuses may
 * be taken, too, so that Lua has to be asked. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_READER_H
#define AUTOTUNE_SCRIPT_EXPRESSION_READER_H

#include "script/expression/lexer.h"
#include "script/expression/tree.h"

typedef enum node_op {
    NODE_NONE, /* nil, and the end of a list */
    NODE_TRUTH,
    NODE_WHOLE,   /* `bits` */
    NODE_NUMBER,  /* `bits` are those of the double */
    NODE_TEXT,    /* `name`, without quotes */
    NODE_LUA,     /* what only Lua evaluates, as it stands there: tables, methods, long texts */
    NODE_NAME,    /* that the reader's caller made nothing else of */
    NODE_INPUT,   /* what an expression is evaluated for */
    NODE_DEVICE,  /* a field of `device` */
    NODE_DERIVED, /* `name` for the value of[0] */
    NODE_FIELD,   /* of[0].name */
    NODE_CALL,    /* of[0], the function, of a list */
    NODE_LIST,    /* a list of[0] (or NODE_NONE) and its next item, of[1] */
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
    NODE_DIVIDE, /* gives a number that need not be whole */
    NODE_FLOOR_DIVIDE,
    NODE_REMAINDER,
    NODE_POWER,
    NODE_NOT,
    NODE_NEGATE,
    NODE_BIT_NOT,
    NODE_LENGTH,
    NODE_OPS
} node_op;

/* The caller makes nodes of names that are no words, in the order of the text; `next` is the token
 * after it. `of.name` is asked of what it made NODE_NAME. NULL: it is not understood. */
typedef struct reader_names {
    void *context;
    const node *(*name)(void *context, tree *t, token name, token next);
    const node *(*field)(void *context, tree *t, const node *of, token name);
} reader_names;

/* The names as they are: NODE_NAME and NODE_FIELD. */
const node *reader_plain_name(tree *t, token name);
const node *reader_plain_field(tree *t, const node *of, token name);

/* Returns the root of the expression; NULL if the text is none, a name was not understood, or
 * memory is lacking. Owns no memory but the tree's while it calls the caller's functions. */
const node *reader_read(tree *t, const char *text, const reader_names *names);

#endif
