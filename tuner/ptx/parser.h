/* What the files of the PTX parser share; no other room includes this.
 *
 * A recursive-descent parser with one token of look-ahead. From the top down: parse.c reads what
 * stands at the level of the module, body.c instructions, declare.c declarations, location.c .file
 * and .loc directives, cursor.c single tokens. */
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
    int function;          /* being parsed; PTX_NONE outside */
    int location;          /* of the last .loc */
    bool is_extern;        /* the declaration that follows is .extern */
    char shown[64];        /* ptx_token_text() */
    at_error *error;
} ptx_parser;

void ptx_advance(ptx_parser *p);
bool ptx_at(const ptx_parser *p, char punctuation);
at_status ptx_expect(ptx_parser *p, char punctuation);
at_status ptx_take_integer(ptx_parser *p, int64_t *out);

/* The current token for a message; valid until the next call. */
const char *ptx_token_text(ptx_parser *p);

/* AT_FORMAT at the current token's line. */
at_status ptx_fail(ptx_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
at_status ptx_no_memory(ptx_parser *p);

/* ".file NUMBER NAME" and ".loc FILE LINE COLUMN ...". */
at_status ptx_parse_file(ptx_parser *p);
at_status ptx_parse_loc(ptx_parser *p);

/* A variable or array declaration up to its ';', at the module's level or in a function. */
at_status ptx_parse_variable(ptx_parser *p);
at_status ptx_parse_parameter(ptx_parser *p);
/* ".reg TYPE names;" */
at_status ptx_parse_registers(ptx_parser *p);

/* "{ ... }": declarations, labels, instructions and nested blocks. */
at_status ptx_parse_block(ptx_parser *p, int depth);

#endif
