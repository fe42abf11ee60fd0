/* Headers of the tool's own (templates/kernel_file), which stand for those of the host and of the
 * Toolkit's libraries where a kernel's own file is compiled. `dir`: of the templates. */
#ifndef AUTOTUNE_SCRIPT_KERNEL_HEADER_H
#define AUTOTUNE_SCRIPT_KERNEL_HEADER_H

#include "base/pack.h"
#include "script/included.h"

/* Adds the text of one, or of two, one after the other (`second` may be NULL), under that name.
 * AT_IO, AT_NO_MEMORY. */
at_status kernel_header_add(included *to, const char *dir, const char *first, const char *second,
                            const char *name, at_error *error);

/* Appends the #include lines of one. AT_IO. */
at_status kernel_header_includes(const char *dir, const char *file, pack *out, at_error *error);

#endif
