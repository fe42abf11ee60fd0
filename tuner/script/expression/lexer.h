/* Lua's tokens, and the lines of table fields in a script's text. The lexer knows strings, long
 * brackets, comments, numbers and names: enough to find the names in an expression, and the line of
 * a field of at.pattern{...}. Nothing here fails: text that is not Lua also gives tokens. */
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
    const char *text; /* the name, the string with its quotes, or the symbol, in the lexer's text */
    size_t length;
    int line; /* line of the first character, from 1 */
} token;

typedef struct lexer {
    const char *at, *end;
    int line;
} lexer;

/* Make a lexer of a text, and return its next token. */
lexer lexer_make(const char *text, size_t size_bytes);
token lexer_next(lexer *l);

bool token_is(token t, const char *text); /* Compares a name, keyword, number or symbol; a string is
                                             equal to nothing. */

/* A step from a table to an item: by key or, if `name` is NULL, by position from 1. */
typedef struct source_step {
    const char *name;
    size_t index;
} source_step;

/* A text in which fields are looked up: in its first `pattern{...}` or, if `bare`, among its
 * assignments (the comment of a CUDA file). */
typedef struct source_text {
    const char *text;
    size_t size_bytes;
    bool bare;
} source_text;

/* Returns the line of the field to which the steps lead. If a step finds nothing (a table may be
 * computed), returns the line of the step before, or 0. */
int source_line(source_text source, const source_step *steps, size_t count);

/* Finds the n-th key (from 0) written `name =` or `["name"] =` in the table to which the steps
 * lead. Returns false if the table has fewer keys. */
bool source_key(source_text source, const source_step *steps, size_t count, size_t n, token *key);

/* Finds repeated keys of table constructors, or of a bare text. Returns the number in `out`. */
size_t source_repeated_keys(source_text source, token *out, size_t capacity);

#endif
