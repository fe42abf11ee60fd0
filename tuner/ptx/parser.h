/* The state of the PTX parser, which has one token of look-ahead. No other room includes this
 * header. After the first failure every token is the end of the text, so callers need not check
 * after each step. parse.c reads the top level of a module, body.c instructions, declare.c
 * declarations, .file and .loc, and parser.c tokens, names and constant expressions. */
#ifndef AUTOTUNE_PTX_PARSER_H
#define AUTOTUNE_PTX_PARSER_H

#include "base/error.h"
#include "ptx/module.h"
#include "ptx/token.h"

enum { PTX_SCOPE_BUCKETS = 256 };

typedef enum ptx_name_kind {
    PTX_NAME_REGISTER,
    PTX_NAME_VARIABLE,
    PTX_NAME_FUNCTION,
    PTX_NAME_LABEL
} ptx_name_kind;

/* A name, or a range of `count` names: `.reg .b32 %r<32>` declares %r0 ... %r31. */
typedef struct ptx_name {
    ptx_text text;
    int kind;  /* ptx_name_kind */
    int index; /* index of the object that has the first name */
    int count; /* 0 for a single name */
    int next;  /* 1 + the index of the older name in the same bucket; 0 at the end */
} ptx_name;

/* A stack of visible names. A name hides older names with the same text until it is popped. */
typedef struct ptx_scope {
    ptx_name *names;
    size_t count;
    int buckets[PTX_SCOPE_BUCKETS]; /* 1 + the index of the newest name; 0 if the bucket is empty */
} ptx_scope;

typedef struct ptx_parser {
    ptx_module *module;
    ptx_lexer lexer;
    ptx_token token;       /* current token */
    ptx_scope names;       /* registers, variables, functions */
    ptx_scope label_names; /* labels of the current function */
    int first_label; /* first label of the current block; labels before it belong to outer blocks */
    int location;    /* location of the last .loc */
    bool calls;      /* the statement is a call: its parentheses enclose lists */
    bool rolled;     /* .pragma "nounroll" applies to the next statement */
    char shown[64];  /* result of ptx_token_text() */
    at_status status; /* status of the first failure */
    at_error *error;
} ptx_parser;

/* A position in the text to which the parser can return. */
typedef struct ptx_mark {
    ptx_lexer lexer;
    ptx_token token;
} ptx_mark;

/* Reads the next token into p->token. */
void ptx_advance(ptx_parser *p);

/* Returns whether the current token is that character. */
bool ptx_at(const ptx_parser *p, char punctuation);

/* If the current token is that character, skips the token and returns true. */
bool ptx_accept(ptx_parser *p, char punctuation);

/* Skips the current token, which must be that character. */
void ptx_expect(ptx_parser *p, char punctuation);

/* Reads an integer, which may be negative. Returns 0 and fails if there is none. */
int64_t ptx_take_integer(ptx_parser *p);

/* Reads an integer constant expression (PTX ISA, "Constant Expressions"). Returns 0 on failure. */
uint64_t ptx_take_constant(ptx_parser *p);

/* Returns the current token for a message. The text is valid until the next call. */
const char *ptx_token_text(ptx_parser *p);

/* Returns the position of the current token. */
ptx_mark ptx_here(const ptx_parser *p);

/* Returns to an earlier position. */
void ptx_go_back(ptx_parser *p, const ptx_mark *to);

/* After a failure with AT_FORMAT: skips the statement or directive that starts at `from`, and
 * resets the status. The failure stays if the statement has no end. */
void ptx_skip_unread(ptx_parser *p, const ptx_mark *from);

/* Fails with AT_FORMAT at the line of the current token, unless the parser has failed before. */
void ptx_fail(ptx_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends an item to an array of the module, like memory_add(). Does nothing after a failure. */
void ptx_keep(ptx_parser *p, void *items, size_t *count, const void *item, size_t size);

/* Adds a name to a scope, which borrows the text. Does nothing after a failure. */
void ptx_scope_put(ptx_parser *p, ptx_scope *scope, ptx_text text, ptx_name_kind kind, int index,
                   int count);

/* Finds the newest name with that text, also in ranges. Returns false if no name has this text. */
bool ptx_scope_find(const ptx_scope *s, ptx_text text, int *kind, int *index);

/* Removes all names that were added after s->count was `mark`. */
void ptx_scope_pop(ptx_scope *s, size_t mark);

/* Removes all names and frees their memory. */
void ptx_scope_deinit(ptx_scope *s);

/* Parses ".file NUMBER NAME". */
void ptx_parse_file(ptx_parser *p);

/* Parses ".loc FILE LINE COLUMN ...". */
void ptx_parse_loc(ptx_parser *p);

/* Parses a declaration of variables or arrays up to its ';'. */
void ptx_parse_variable(ptx_parser *p);

/* Parses one parameter or result of a function. */
void ptx_parse_parameter(ptx_parser *p);

/* Parses ".reg TYPE names;". */
void ptx_parse_registers(ptx_parser *p);

/* Parses a block "{ ... }". Returns the text inside it. `depth` is 0 for a function's body. */
ptx_text ptx_parse_block(ptx_parser *p, int depth);

#endif
