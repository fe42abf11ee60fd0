/* Lua's tokens, and where in a script's text a table field stands.
 *
 * Knows strings, long brackets, comments, numbers and names: enough to find which names an
 * expression reads and on which line of the script a field of at.pattern{...} is. Never fails: text
 * that is not Lua still gives tokens. */
#ifndef AUTOTUNE_SCRIPT_LEXER_H
#define AUTOTUNE_SCRIPT_LEXER_H

#include <stdbool.h>
#include <stddef.h>

typedef enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_NUMBER,
    TOKEN_SYMBOL
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text; /* into the lexer's text: the name, the string with its quotes, the symbol */
    size_t length;
    int line; /* 1-based, of the first character */
} token;

typedef struct lexer {
    const char *at, *end;
    int line;
} lexer;

lexer lexer_make(const char *text, size_t size_bytes);
token lexer_next(lexer *l);

bool token_is(token t, const char *text); /* a name, keyword or symbol spelt like this */

/* One step from a table to what is in it: a key, or (name NULL) the n-th positional item, from
 * 1. */
typedef struct source_step {
    const char *name;
    size_t index;
} source_step;

/* A text in which fields are looked for: those of the table given to the first `pattern{...}`, or
 * of a `bare` one its assignments, as in the comment of a CUDA file. */
typedef struct source_text {
    const char *text;
    size_t size_bytes;
    bool bare;
} source_text;

/* Line of the field that the steps lead to. When a step finds nothing (the table is computed, say),
 * the line of the last step that did, or 0. */
int source_line(source_text source, const source_step *steps, size_t count);

/* The n-th key (from 0) that is written `name =` or `["name"] =` in the table that the steps lead
 * to; false when there are fewer. */
bool source_key(source_text source, const source_step *steps, size_t count, size_t n, token *key);

/* Finds the keys that their table constructors have twice, in the order of the text; returns how
 * many of them are in `out`. Of the assignments of a bare text each name is such a key. */
size_t source_repeated_keys(source_text source, token *out, size_t capacity);

#endif
