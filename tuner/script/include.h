/* The files that CUDA source includes: from the script's folder, those that the command line names,
 * the tool's templates or the CUDA Toolkit; no others.
 *
 * Directives are found as a preprocessor finds them, but without conditions and macros: every
 * #include counts. A file of one of the folders is read here and given to the compiler as text, so
 * that the machine code depends on nothing else; the compiler looks for every other name in the
 * Toolkit. */
#ifndef AUTOTUNE_SCRIPT_INCLUDE_H
#define AUTOTUNE_SCRIPT_INCLUDE_H

#include <stddef.h>

#include "script/included.h"

/* Collects the files that *source, called `name` in messages, includes, and those that they include
 * in turn: beside the file that includes, else from `folders`, which are searched in order. Their
 * names are the paths below their folders, one name to a file; a directive that spells another gets
 * it, so that *source (owned by the caller) may be replaced.
 *
 * AT_SCRIPT, naming file and line (#line directives count): a name that is absolute, or leads out
 * of the folder by ".."; one that a macro makes; a __has_include of such; a "link" out of the
 * folders; a trigraph, which could hide a directive; a file that is not a regular one, is too large
 * or holds a NUL; more than SOURCE_HEADERS_MAX files. */
at_status include_collect(char **source, const char *name, const char *const *folders,
                          size_t folder_count, included *out, at_error *error);

#endif
