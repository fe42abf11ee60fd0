/* Tells what a name is by where it stands in a text.
 *
 * It is a guess, for what is asked before there is a compiler's answer. Nothing fails. */
#ifndef AUTOTUNE_CPP_NAME_H
#define AUTOTUNE_CPP_NAME_H

#include <stdbool.h>

#include "cpp/token.h"

/* Is it a variable of a function or of the file, after a type: int N = 4? */
bool cpp_is_declared(cpp_span text, const char *name);

/* Does it stand where a type does, before another name or after const? */
bool cpp_is_type_like(cpp_span text, const char *name);

/* Do elements of the array of that name say where others are: do they, or a variable that has one,
 * stand in brackets, or in a sum with an address? */
bool cpp_is_index_array(cpp_span text, const char *name);

#endif
