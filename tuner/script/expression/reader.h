/* Reads expressions into a tree.
 *
 * The notation is a table: its tokens, operators, words, and what its operands look like. Lua's is
 * here, and takes what Lua does but functions; texts that Lua refuses may be taken, too, so that
 * Lua has to be asked. Python's is in python.c, and takes what Python does but functions, slices,
 * dictionaries and sets. The operators of both are the same nodes. */
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
    NODE_ITEMS,   /* Python's list or tuple: a list of[0], or a NODE_EACH */
    NODE_EACH,   /* of[0], or what it gives if it is a NODE_EACH, for each `name` in of[1] for which
                    of[2] holds */
    NODE_INDEX,  /* of[0][of[1]] */
    NODE_CHOICE, /* of[1] if of[0] else of[2] */
    NODE_IN,
    NODE_NOT_IN,
    NODE_PLUS, /* +of[0] */
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

/* An operator takes operands whose own bind more strongly: `left` of one before another is compared
 * with `right` of the other. `left` of a unary one: where operands must bind as strongly, it cannot
 * stand without brackets. */
typedef struct notation_operator {
    const char *symbol;
    node_op op;
    int left, right;
} notation_operator;

/* A word with a value of its own. */
typedef struct notation_word {
    const char *text;
    node_op op;
    int64_t bits;
} notation_word;

struct reader;

/* Each list ends in an item of NULL. `reserved` has the words that stand for no value, each between
 * blanks. `whole` reads an expression, and `operand` what stands between operators (reading.h);
 * both give NULL where there is none. */
typedef struct notation {
    token (*next)(lexer *l);
    const notation_operator *binary, *unary;
    const notation_word *words;
    const char *reserved;
    const node *(*whole)(struct reader *r);
    const node *(*operand)(struct reader *r);
    bool chained; /* a < b < c is a < b and b < c */
} notation;

extern const notation notation_lua, notation_python;

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

/* The root of the expression; NULL when this is none, a name was not understood, or for want of
 * memory. Owns no memory but the tree's while it calls the caller's functions. */
const node *reader_read(tree *t, const notation *n, const char *text, const reader_names *names);

/* The same; *stopped is the token after what was read, which is where an expression that is none
 * goes wrong. */
const node *reader_read_to(tree *t, const notation *n, const char *text, const reader_names *names,
                           token *stopped);

#endif
