/* PTX text to a ptx_module (ptx/module.h).
 *
 * Knows the grammar, not the instructions: an opcode stays text, which sim/decode/decode.h
 * interprets. Every statement keeps its PTX line and the source line of its .loc. Text that is not
 * PTX is AT_FORMAT with the line. Statements and declarations of a form that this parser does not
 * know cost nothing until they are executed or used: the former are kept as unreadable, what the
 * latter declare has no meaning. */
#ifndef AUTOTUNE_PTX_PARSE_H
#define AUTOTUNE_PTX_PARSE_H

#include "base/error.h"
#include "ptx/module.h"

/* Parses `size` bytes. On success *out owns the module (ptx_module_free). `name` is used in
 * messages. Errors: AT_FORMAT with `name` and the line; AT_NO_MEMORY. */
at_status ptx_parse(const char *text, size_t size, const char *name, ptx_module **out,
                    at_error *error);

#endif
