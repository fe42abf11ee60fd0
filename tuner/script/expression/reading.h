/* The notations of reader.h share this: a reader that stands before a token, and the nodes that it
 * makes. Each function gives NULL for want of memory, or where the text is no expression; nodes
 * with an operand of NULL are NULL. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_READING_H
#define AUTOTUNE_SCRIPT_EXPRESSION_READING_H

#include "script/expression/reader.h"

/* Lua's own limit: of calls within it, one of which at least each bracket is. */
enum { READING_MOST_NESTED = 200 };

typedef struct reader {
    tree *t;
    const notation *notation;
    const reader_names *names;
    lexer lexer;
    token next;
    size_t nested;
} reader;

void reading_advance(reader *r);
/* Goes past the next token if it is this one. */
bool reading_accept(reader *r, const char *symbol);
/* Is it a word of the notation that stands for no value? */
bool reading_is_reserved(const reader *r, token name);

const node *reading_leaf(reader *r, node_op op, int64_t bits);
const node *reading_number(reader *r, double value);
const node *reading_named(reader *r, node_op op, const node *of, token name);
const node *reading_pair(reader *r, node_op op, const node *a, const node *b);

/* The word's node if the token, which has been passed, is a word with a value. */
const node *reading_word(reader *r, token name);

/* Operators that bind more strongly than `least`, and their operands. */
const node *reading_binary(reader *r, int least);

#endif
