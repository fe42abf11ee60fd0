/* The state that the files of the PTX parser share; no other room includes this.
 *
 * A recursive-descent parser with one token of look-ahead. After the first failure, which is kept,
 * every further token is the end of the text, so that nobody need check after each step. From the
 * top down: parse.c reads what stands at the level of the module, body.c instructions, declare.c
 * declarations, location.c .file and .loc directives, cursor.c single tokens. */
#ifndef AUTOTUNE_PTX_PARSER_H
#define AUTOTUNE_PTX_PARSER_H

#include "base/error.h"
#include "ptx/module.h"
#include "ptx/scope.h"

enum { PTX_NAME_REGISTER, PTX_NAME_VARIABLE, PTX_NAME_FUNCTION, PTX_NAME_LABEL };

typedef struct ptx_parser {
    ptx_module *module;
    ptx_lexer lexer;
    ptx_token token;       /* the one looked at */
    ptx_scope names;       /* registers, variables, functions */
    ptx_scope label_names; /* of the function being parsed */
    int first_label;       /* of the block being parsed: earlier ones are of those around it */
    int location;          /* of the last .loc */
    bool calls;            /* the statement is a call: its parentheses hold lists */
    bool rolled;           /* .pragma "nounroll" stands before what follows */
    char shown[64];        /* ptx_token_text() */
    at_status status;      /* the first failure */
    at_error *error;
} ptx_parser;

void ptx_advance(ptx_parser *p);
bool ptx_at(const ptx_parser *p, char punctuation);
bool ptx_accept(ptx_parser *p, char punctuation); /* and goes over it, if it is there */
void ptx_expect(ptx_parser *p, char punctuation);
int64_t ptx_take_integer(ptx_parser *p); /* 0 if there is none, which is a failure */

/* A constant expression of integers (PTX ISA, "Constant Expressions"), with - ~ ! before terms and
 * * / + - << >> & ^ | between them; 0 after a failure. */
uint64_t ptx_take_constant(ptx_parser *p);

/* The current token for a message; valid until the next call. */
const char *ptx_token_text(ptx_parser *p);

/* A place in the text to which the parser may come back. */
typedef struct ptx_mark {
    ptx_lexer lexer;
    ptx_token token;
} ptx_mark;
ptx_mark ptx_here(const ptx_parser *p);

/* Forgets the failure to read what begins at the mark, and goes over that, to after the ';' or the
 * closing brace that ends it. The failure stays if nothing ends it, or if it was no AT_FORMAT. */
void ptx_skip_unread(ptx_parser *p, const ptx_mark *from);

/* AT_FORMAT at the current token's line. */
void ptx_fail(ptx_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append to one of the module's arrays, as memory_add(), and to a scope, as ptx_scope_put();
 * nothing after a failure. */
void ptx_keep(ptx_parser *p, void *items, size_t *count, const void *item, size_t size);
void ptx_name_put(ptx_parser *p, ptx_scope *scope, ptx_text text, int kind, int index, int count);

/* ".file NUMBER NAME" and ".loc FILE LINE COLUMN ...". */
void ptx_parse_file(ptx_parser *p);
void ptx_parse_loc(ptx_parser *p);

/* A variable or array declaration up to its ';', at the module's level or in a function. */
void ptx_parse_variable(ptx_parser *p);
void ptx_parse_parameter(ptx_parser *p);
/* ".reg TYPE names;" */
void ptx_parse_registers(ptx_parser *p);

/* "{ ... }": declarations, labels, instructions and nested blocks. Returns the text between the
 * braces. */
ptx_text ptx_parse_block(ptx_parser *p, int depth);

#endif
