/* The tokens and comments of C++ text, for readers that look for declarations. Comments and blanks
 * separate tokens. A directive with its continued lines is one token. The only translation phase is
 * the splicing of lines. Nothing here fails: text that is not C++ still gives tokens. */
#ifndef AUTOTUNE_CPP_TOKEN_H
#define AUTOTUNE_CPP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a part of a file's text, without a NUL at its end; the owner of the file owns it */
typedef struct cpp_span {
    const char *text;
    size_t length;
} cpp_span;

typedef enum cpp_token_kind {
    CPP_END,
    CPP_WORD,
    CPP_NUMBER,
    CPP_LITERAL,  /* a string or a character, with its quotes */
    CPP_SYMBOL,   /* one character, or two: "::" and those that end with '=' */
    CPP_DIRECTIVE /* from its sign, # or %:, to the end of the line or a // comment */
} cpp_token_kind;

typedef struct cpp_token {
    cpp_token_kind kind;
    cpp_span span;
    int line;         /* from 1 */
    bool begins_line; /* only blanks and comments stand before it on its line */
} cpp_token;

typedef struct cpp_lexer {
    const char *at, *end;
    int line;
    bool at_line_start;
} cpp_lexer;

/* Makes a lexer. `line` is the number of the first line. `text` may be NULL if `length` is 0. */
cpp_lexer cpp_lexer_make(const char *text, size_t length, int line);

/* Takes the next token: CPP_END at the end of the text. */
cpp_token cpp_next(cpp_lexer *l);

bool cpp_span_is(cpp_span s, const char *text);
bool cpp_spans_equal(cpp_span a, cpp_span b);

/* Returns a hash: equal spans have the same one. */
uint64_t cpp_span_key(cpp_span s);

/* Returns the text between two places without blanks and comments at both ends. */
cpp_span cpp_trim(const char *begin, const char *end);

/* Compares a word or a symbol; tokens of other kinds are equal to nothing. */
bool cpp_is(cpp_token t, const char *text);

/* Compares a word or a symbol with a list that ends with NULL. */
bool cpp_is_any(cpp_token t, const char *const *texts);

/* Returns 1 for an opening (, [ or {, -1 for a closing one, and 0 for other tokens. */
int cpp_nesting(cpp_token t);

/* Finds the comment that describes how a file is tuned: the first block, or consecutive lines of
 * //, whose first word is "autotune". *comment includes the comment signs, *line is its first line.
 * Returns false if the file has no such comment. */
bool cpp_comment_find(const char *text, cpp_span *comment, int *line);

/* Tells whether a block comment has its end. Comments of // always have. */
bool cpp_comment_is_closed(cpp_span comment);

/* Returns the comment's text, on its lines of the file: blanks replace comment signs and the first
 * word, empty lines the text before it. The caller frees it. Returns NULL if memory is short. */
char *cpp_comment_body(const char *text, cpp_span comment);

#endif
