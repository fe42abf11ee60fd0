/* The tokens of C++ text, as far as one needs them to find declarations: without translation
 * phases but for splices in directives.
 *
 * Comments and blanks separate tokens and are none. A directive, with its continued lines, is one
 * token. Never fails: what is not C++ still gives tokens. */
#ifndef AUTOTUNE_CPP_TOKEN_H
#define AUTOTUNE_CPP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text within a file: not ended by a NUL, owned by whoever has the file. */
typedef struct cpp_span {
    const char *text;
    size_t length;
} cpp_span;

typedef enum cpp_token_kind {
    CPP_END,
    CPP_WORD,
    CPP_NUMBER,
    CPP_LITERAL, /* a string or a character, with its quotes */
    CPP_SYMBOL,  /* one character; two of "::", and of those that end in '=' */
    CPP_DIRECTIVE
} cpp_token_kind;

typedef struct cpp_token {
    cpp_token_kind kind;
    cpp_span span;
    int line;         /* from 1 */
    bool begins_line; /* but for blanks and comments */
} cpp_token;

typedef struct cpp_lexer {
    const char *at, *end;
    int line;
    bool at_line_start;
} cpp_lexer;

cpp_lexer cpp_lexer_make(const char *text, size_t length, int line);
cpp_token cpp_next(cpp_lexer *l);

bool cpp_span_is(cpp_span s, const char *text);
bool cpp_spans_equal(cpp_span a, cpp_span b);
bool cpp_is(cpp_token t, const char *text); /* a word or a symbol */
uint64_t cpp_span_key(cpp_span s);          /* the same for equal spans, mostly another otherwise */

/* The next comment at or after the lexer's place, with its signs; false: there is none. The lexer
 * is after it then. */
bool cpp_next_comment(cpp_lexer *l, cpp_span *comment, int *line);

#endif
