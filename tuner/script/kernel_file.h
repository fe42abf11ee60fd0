/* A kernel's own file: CUDA C++ as its author wrote it, with host code. kernel_file.c parses the
 * file and the files that it includes. kernel_cut.c keeps the declarations that the kernel needs,
 * with line numbers. kernel_signature.c asks the compiler for the kernel's parameters. Tuning
 * parameters are macros that replace the file's own definitions. They are defined after the
 * Toolkit's headers at the beginning of the file, so a parameter N or V does not change these
 * headers, and variants share them precompiled (compile/nvrtc.h). */
#ifndef AUTOTUNE_SCRIPT_KERNEL_FILE_H
#define AUTOTUNE_SCRIPT_KERNEL_FILE_H

#include "base/error.h"
#include "base/pack.h"
#include "cpp/signature.h"
#include "cpp/unit.h"
#include "script/include.h"
#include "script/script.h"

typedef struct kernel_file {
    char *name, *path; /* name in the script; path in messages */
    cpp_unit *units;   /* the file and the files that it includes */
    /* For each unit: its text; its name below its folder, which its #include lines have; the path
     * at which it was found; and the real path. */
    char **texts, **names, **paths, **reals;
    size_t count, capacity;
    char *text; /* text for the compiler; NULL before kernel_cut() */
    char *head; /* #include lines of the Toolkit that stand before the definitions; NULL before
                   kernel_cut() */
    included headers; /* empty before kernel_cut() */
    char *missing;    /* names of missing headers, separated by ", ", or NULL */
    bool is_device;   /* the caller sets it: functions without an annotation are device functions */
} kernel_file;

/* Reads the file and the files that it includes from the folders; ignores other #include lines.
 * AT_IO, AT_SCRIPT (a file that is too large, or holds a NUL), AT_NO_MEMORY. The caller frees *out,
 * also after a failure. */
at_status kernel_file_read(const char *name, const char *path, const char *const *folders,
                           size_t folder_count, kernel_file *out, at_error *error);
void kernel_file_deinit(kernel_file *k);

/* Compiles a source. The caller frees *ptx and *log. AT_USAGE if there is no compiler. */
at_status kernel_file_compile(const script_compiler *compiler, const script_source *source,
                              char **ptx, char **log, at_error *error);

/* Asks the compiler which headers exist, and cuts out the code that the kernels do not need
 * (kernel_cut.c). `roots` are texts with the kernels' names. `given` names are defined before the
 * file is read. `host_dir` is the folder of templates, whose headers replace the host's. AT_SCRIPT,
 * AT_NO_MEMORY, and errors of the compiler's process. */
at_status kernel_cut(kernel_file *k, const cpp_span *roots, size_t root_count,
                     const cpp_span *given, size_t given_count, const char *host_dir,
                     const script_compiler *compiler, at_error *error);

/* Compiles the file with `defines` ("#define NAME VALUE\n" ...) before it and reads the parameters
 * of the kernel `entry`. Returns AT_COMPILE if the file does not compile. The caller frees *log,
 * the compiler's log, which may be NULL. */
at_status kernel_signature(const kernel_file *k, const char *entry, const char *defines,
                           const char *const *options, size_t option_count, const char *host_dir,
                           const script_compiler *compiler, cpp_argument out[CPP_MAX_PARAMETERS],
                           size_t *count, char **log, at_error *error);

/* Finds the first C or C++ file beside the file `path` that includes it, or writes "". The found
 * file may define types and macros above its #include line; then the user should name it. */
bool kernel_includer(const char *path, char *out, size_t size_bytes);

/* Adds the header that writes kernels' parameters into PTX (cpp/signature.h). *name is its name.
 * AT_IO, AT_NO_MEMORY. */
at_status kernel_signature_header(included *to, const char *host_dir, const char **name,
                                  at_error *error);

/* The tool's own headers (templates/kernel_file), which replace headers of the host and of the
 * Toolkit's libraries. `dir` is the folder of templates. */

/* Adds one header, or two (`second` may be NULL), under `name`. AT_IO, AT_NO_MEMORY. */
at_status kernel_header_add(included *to, const char *dir, const char *first, const char *second,
                            const char *name, at_error *error);

/* Appends the #include lines of a header. AT_IO. */
at_status kernel_header_includes(const char *dir, const char *file, pack *out, at_error *error);

#endif
