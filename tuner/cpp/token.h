/* The tokens and comments of C++ text, for modules that look for declarations. Comments and blanks
 * separate tokens. A directive with its continued lines is one token. The lexer splices lines, but
 * does no other translation phase of C++. No function fails: text that is not C++ also gives
 * tokens. */
#ifndef AUTOTUNE_CPP_TOKEN_H
#define AUTOTUNE_CPP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a part of a file's text, without a NUL at its end; borrowed */
typedef struct cpp_span {
    const char *text;
    size_t length;
} cpp_span;

typedef enum cpp_token_kind {
    CPP_END,
    CPP_WORD,
    CPP_NUMBER,
    CPP_LITERAL,  /* a string or a character, with its quotes */
    CPP_SYMBOL,   /* one character; two characters if it is "::" or ends with '=' */
    CPP_DIRECTIVE /* from # or %: to the end of the line or a // comment */
} cpp_token_kind;

typedef struct cpp_token {
    cpp_token_kind kind;
    cpp_span span;
    int line;         /* from 1 */
    bool begins_line; /* the token is the first on its line */
} cpp_token;

typedef struct cpp_lexer {
    const char *at, *end;
    int line;
    bool at_line_start;
} cpp_lexer;

/* Makes a lexer. `line` is the number of the first line. `text` may be NULL if `length` is 0. */
cpp_lexer cpp_lexer_make(const char *text, size_t length, int line);

/* Takes the next token. Its kind is CPP_END at the end of the text. */
cpp_token cpp_next(cpp_lexer *l);

bool cpp_span_is(cpp_span s, const char *text);
bool cpp_spans_equal(cpp_span a, cpp_span b);

/* Returns a hash of the text. */
uint64_t cpp_span_key(cpp_span s);

/* Returns the text from `begin` to `end` without blanks and comments at both ends. */
cpp_span cpp_trim(const char *begin, const char *end);

bool cpp_is(cpp_token t, const char *text);

/* Tells whether a token is one of the words or symbols in a list that ends with NULL. */
bool cpp_is_any(cpp_token t, const char *const *texts);

/* Returns 1 for an opening bracket (, [ or {, -1 for a closing bracket, and 0 for other tokens. */
int cpp_nesting(cpp_token t);

/* Finds the first comment whose first word is "autotune": a block comment or consecutive //
 * comments. *comment includes the comment signs; *line is the number of its first line. Returns
 * false if the file has no such comment. */
bool cpp_comment_find(const char *text, cpp_span *comment, int *line);

/* Returns false if the end of a block comment is missing. */
bool cpp_comment_is_closed(cpp_span comment);

/* Returns the comment's text, with line numbers as in the file: empty lines stand for the text
 * before the comment, and blanks for comment signs and the first word. The caller frees the text.
 * Returns NULL if memory is short. */
char *cpp_comment_body(const char *text, cpp_span comment);

#endif
