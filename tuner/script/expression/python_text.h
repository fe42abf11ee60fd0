/* Terms in Python: for the files of other auto-tuners.
 *
 * In: an expression, and how its names are spelt there. Out: Python with the value that Lua gives,
 * as long as no whole number leaves 64 bits. An expression without a term (term.h), and one that
 * calls log2() or cluster_load(), cannot be translated. */
#ifndef AUTOTUNE_SCRIPT_EXPRESSION_PYTHON_TEXT_H
#define AUTOTUNE_SCRIPT_EXPRESSION_PYTHON_TEXT_H

#include "script/expression/term.h"

/* A field of `device` in Python; false: there is no such. */
typedef bool (*python_field)(void *context, const char *name, char *text, size_t size_bytes);

/* `spell` writes an input in Python. *out is the caller's; NULL when this cannot be translated, or
 * would be longer than 16 KiB. AT_NO_MEMORY. */
at_status python_text_write(tree *t, const node *expression, term_leaf spell, python_field field,
                            void *context, char **out, at_error *error);

#endif
