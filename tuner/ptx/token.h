/* Splits PTX text, as NVRTC writes it, into tokens. A token is a view of the text with its line;
 * comments and white space are no tokens. A modifier keeps its dot (".global", ".L1::no_allocate"),
 * so an opcode is a word followed by modifiers. Unknown characters, unterminated strings and
 * unterminated comments are PTX_TOKEN_BAD. The lexer allocates no memory. */
#ifndef AUTOTUNE_PTX_TOKEN_H
#define AUTOTUNE_PTX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_WORD,     /* identifier: opcode, label, register, variable */
    PTX_TOKEN_MODIFIER, /* a dot and a word; the text includes the dot */
    PTX_TOKEN_INTEGER,
    PTX_TOKEN_FLOAT,       /* 0fXXXXXXXX; `bits` holds a float */
    PTX_TOKEN_DOUBLE,      /* 0dXXXXXXXXXXXXXXXX or a decimal fraction; `bits` holds a double */
    PTX_TOKEN_STRING,      /* the text excludes the quotes */
    PTX_TOKEN_PUNCTUATION, /* one character */
    PTX_TOKEN_BAD
} ptx_token_kind;

/* A borrowed part of the text, without a terminating NUL. */
typedef struct ptx_text {
    const char *at;
    uint32_t length;
} ptx_text;

typedef struct ptx_token {
    ptx_token_kind kind;
    int line; /* starts at 1 */
    ptx_text text;
    uint64_t bits; /* value of a number */
} ptx_token;

typedef struct ptx_lexer {
    const char *at, *end;
    int line;
} ptx_lexer;

/* Starts at the beginning of the text, which must outlive the lexer and its tokens. */
void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t size);

/* Returns the next token. After the last token, every call returns PTX_TOKEN_END. */
ptx_token ptx_lexer_next(ptx_lexer *lexer);

/* Compares two texts like strcmp(). The result is less than, equal to, or greater than 0. */
int ptx_text_compare(ptx_text a, ptx_text b);

/* Returns whether the text is exactly `word`. */
bool ptx_text_is(ptx_text text, const char *word);

/* Returns whether the text starts with `with`. */
bool ptx_text_begins(ptx_text text, const char *with);

#endif
