/* PTX text to tokens.
 *
 * In: PTX as NVRTC writes it. Out: one token at a time, each a view into the text with its line.
 * Comments and white space vanish. A modifier keeps its dot (".global", ".L1::no_allocate"), so
 * that an opcode is a word followed by modifiers. Allocates nothing. An unknown character and an
 * unterminated string or comment are PTX_TOKEN_BAD. */
#ifndef AUTOTUNE_PTX_TOKEN_H
#define AUTOTUNE_PTX_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_WORD,     /* identifier: opcode, label, register, variable */
    PTX_TOKEN_MODIFIER, /* .word, the dot included */
    PTX_TOKEN_INTEGER,
    PTX_TOKEN_FLOAT,       /* 0fXXXXXXXX: bits of a float in `bits` */
    PTX_TOKEN_DOUBLE,      /* 0dXXXXXXXXXXXXXXXX or a decimal fraction: bits of a double */
    PTX_TOKEN_STRING,      /* without its quotes */
    PTX_TOKEN_PUNCTUATION, /* one character */
    PTX_TOKEN_BAD
} ptx_token_kind;

/* A piece of the text; not NUL-terminated. Borrowed. */
typedef struct ptx_text {
    const char *at;
    uint32_t length;
} ptx_text;

typedef struct ptx_token {
    ptx_token_kind kind;
    int line; /* 1-based */
    ptx_text text;
    uint64_t bits; /* numbers */
} ptx_token;

typedef struct ptx_lexer {
    const char *at, *end;
    int line;
} ptx_lexer;

/* Starts at the beginning of `size` bytes of text, which must outlive lexer and tokens. */
void ptx_lexer_init(ptx_lexer *lexer, const char *text, size_t size);

/* The next token; PTX_TOKEN_END for ever after the last. */
ptx_token ptx_lexer_next(ptx_lexer *lexer);

/* Less than, equal to or greater than 0, as strcmp(). */
int ptx_text_compare(ptx_text a, ptx_text b);

/* Is the text exactly `word`? */
bool ptx_text_is(ptx_text text, const char *word);

bool ptx_text_begins(ptx_text text, const char *with);

#endif
