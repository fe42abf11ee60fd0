/* What CUDA source includes: of the script's folder and of the tool's templates, or of the CUDA
 * Toolkit; no other file.
 *
 * Source is read for its directives as a preprocessor reads it, but without conditions and macros:
 * every #include counts. Those that name a file of one of the folders are read here, so that the
 * compiler is handed their text and what it makes depends on nothing else; every other name is left
 * to the compiler, which looks in the Toolkit. */
#ifndef AUTOTUNE_SCRIPT_INCLUDE_H
#define AUTOTUNE_SCRIPT_INCLUDE_H

#include <stddef.h>

#include "base/error.h"
#include "base/source_header.h"

typedef struct included {
    source_header *headers; /* owned, with their names and texts, in the order found */
    size_t count;
} included;

/* Collects the files that `source`, called `name` in messages, includes, and those that they
 * include in turn, from `folders`, the first of which goes first.
 *
 * AT_SCRIPT, naming file and line (#line directives count): a name that is absolute or has "..";
 * one that a macro makes; a __has_include of such; a trigraph, which could hide a directive; one
 * name for two files; a file that is not a regular one, is too large or holds a NUL; more than
 * SOURCE_HEADERS_MAX files. */
at_status include_collect(const char *source, const char *name, const char *const *folders,
                          size_t folder_count, included *out, at_error *error);

void included_deinit(included *i);

#endif
