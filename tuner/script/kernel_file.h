/* A file of CUDA C++ as its author wrote it, host code and all, of which a kernel is tuned.
 *
 * In: the file, and those that it includes from the script's folder. Out: the same text without
 * what the kernel does not need, with line numbers kept, for the compiler; what the compiler says
 * that the kernel takes. Tuning parameters are macros: where the file defines them itself, that is
 * left out. They are defined before the file, but after the Toolkit's headers that it begins with:
 * a parameter N or V is no name of theirs, and variants share them read (compile/preamble.h). */
#ifndef AUTOTUNE_SCRIPT_KERNEL_FILE_H
#define AUTOTUNE_SCRIPT_KERNEL_FILE_H

#include "base/error.h"
#include "base/source_header.h"
#include "cpp/signature.h"
#include "cpp/unit.h"
#include "script/include.h"
#include "script/script.h"

typedef struct kernel_file {
    char *name, *path; /* as the script spells it; as messages call it */
    cpp_unit *units;   /* of the file, and of the files that it includes */
    /* Of each: its text; its name from the folder in which it was found, by which all of its
     * #include lines have it; its path as found; the real one. */
    char **texts, **names, **paths, **reals;
    size_t count, capacity;
    char *text;       /* what is compiled; NULL before kernel_file_cut() */
    char *head;       /* likewise: #include lines of the Toolkit that go before what is defined */
    included headers; /* likewise */
    char *missing;    /* names of headers that are nowhere, with ", " between; NULL: none */
    bool is_device;   /* the caller's to set: functions without an annotation are the device's */
} kernel_file;

/* Reads the file and what it includes from the folders. Of each #include that leads elsewhere
 * nothing is said yet. AT_IO, AT_SCRIPT (a file that is too large, or holds a NUL), AT_NO_MEMORY.
 * The caller frees *out, also after a failure. */
at_status kernel_file_read(const char *name, const char *path, const char *const *folders,
                           size_t folder_count, kernel_file *out, at_error *error);
void kernel_file_deinit(kernel_file *k);

/* Asks the compiler which headers there are, and cuts out what the kernels do not need: `roots` are
 * texts with their names, `given` the names that are defined before the file is read. `host_dir`
 * has the headers that stand for the host's. AT_SCRIPT, AT_NO_MEMORY, and what the compiler's
 * process fails with. */
at_status kernel_file_cut(kernel_file *k, const cpp_span *roots, size_t root_count,
                          const cpp_span *given, size_t given_count, const char *host_dir,
                          const script_compiler *compiler, at_error *error);

/* Compiles the file with `defines` before it ("#define NAME VALUE\n" ...) and reads what the kernel
 * `entry` takes. AT_COMPILE with what the compiler says if it does not compile; *undefined, which
 * the caller frees, then has the names that nothing defines, a line each, after an empty one. */
at_status kernel_file_signature(const kernel_file *k, const char *entry, const char *defines,
                                const char *const *options, size_t option_count,
                                const char *host_dir, const script_compiler *compiler,
                                cpp_argument out[CPP_MAX_PARAMETERS], size_t *count,
                                char **undefined, at_error *error);

/* Adds the header by which a source tells what its kernels take (cpp/signature.h), and its name
 * in *name. AT_IO, AT_NO_MEMORY. */
at_status kernel_file_add_signature(included *to, const char *host_dir, const char **name,
                                    at_error *error);

/* Copies of the headers, for a source that was emitted. AT_NO_MEMORY. */
at_status kernel_file_headers(const kernel_file *k, included *out, at_error *error);

#endif
