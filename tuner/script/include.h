/* Collects the files that CUDA source includes: from the script's folder, from folders of the
 * command line, and from the tool's templates. The compiler gets their texts, so that the machine
 * code depends on no other files; it looks up all other names in the Toolkit. Every #include
 * counts, because conditions and macros are not evaluated. */
#ifndef AUTOTUNE_SCRIPT_INCLUDE_H
#define AUTOTUNE_SCRIPT_INCLUDE_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

typedef struct included {
    source_header *headers; /* owned, with names and texts, in the order found */
    size_t count;
} included;

/* Adds a header. Takes over `text`, also after a failure. AT_NO_MEMORY. */
at_status included_add(included *to, const char *name, char *text, at_error *error);

/* Copies a list. The caller frees *out, also after a failure. AT_NO_MEMORY. */
at_status included_copy(const included *from, included *out, at_error *error);

/* Frees the list with names and texts. */
void included_deinit(included *i);

/* Collects the files that *source includes, directly or through others. A file is looked up beside
 * the file that includes it, then in the folders in their order. Its name is the path below its
 * folder. A directive that spells the name differently is changed, so *source (owned by the caller)
 * may be replaced. Messages call the source `name`. AT_SCRIPT, with file and line (#line directives
 * count), refuses: a name that is absolute, leaves the folder by "..", or comes from a macro, also
 * in __has_include; a link that leaves the folders; a trigraph, which could hide a directive; a
 * file that is not regular, is too large or holds a NUL; more than SOURCE_HEADERS_MAX files. */
at_status include_collect(char **source, const char *name, const char *const *folders,
                          size_t folder_count, included *out, at_error *error);

#endif
