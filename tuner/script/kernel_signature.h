/* What a kernel in its author's own file (kernel_file.h) takes, as the compiler says it. */
#ifndef AUTOTUNE_SCRIPT_KERNEL_SIGNATURE_H
#define AUTOTUNE_SCRIPT_KERNEL_SIGNATURE_H

#include "base/pack.h"
#include "cpp/signature.h"
#include "script/included.h"
#include "script/kernel_file.h"

/* Compiles the file with `defines` before it ("#define NAME VALUE\n" ...) and reads what the kernel
 * `entry` takes. AT_COMPILE with what the compiler says if it does not compile; *undefined, which
 * the caller frees, then has the names that nothing defines, a line each, after an empty one. */
at_status kernel_signature(const kernel_file *k, const char *entry, const char *defines,
                           const char *const *options, size_t option_count, const char *host_dir,
                           const script_compiler *compiler, cpp_argument out[CPP_MAX_PARAMETERS],
                           size_t *count, char **undefined, at_error *error);

/* Adds the header by which a source tells what its kernels take (cpp/signature.h), and its name
 * in *name. AT_IO, AT_NO_MEMORY. */
at_status kernel_signature_header(included *to, const char *host_dir, const char **name,
                                  at_error *error);

/* ---- headers ----
 *
 * Headers of the tool's own (templates/kernel_file), which stand for those of the host and of the
 * Toolkit's libraries where a kernel's own file is compiled. `dir`: of the templates. */

/* Adds the text of one, or of two, one after the other (`second` may be NULL), under that name.
 * AT_IO, AT_NO_MEMORY. */
at_status kernel_header_add(included *to, const char *dir, const char *first, const char *second,
                            const char *name, at_error *error);

/* Appends the #include lines of one. AT_IO. */
at_status kernel_header_includes(const char *dir, const char *file, pack *out, at_error *error);

#endif
