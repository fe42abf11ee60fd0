/* A file of CUDA C++ as its author wrote it, host code and all, of which a kernel is tuned.
 *
 * In: the file, and those that it includes from the script's folder. Out: their declarations, of
 * which kernel_cut.h leaves what the kernel needs, with line numbers kept, for the compiler;
 * kernel_signature.h has the compiler say what the kernel takes. Tuning parameters are macros:
 * where the file defines them itself, that is left out. They are defined before the file, but after
 * the Toolkit's headers that it begins with: a parameter N or V is no name of theirs, and variants
 * share them read (compile/preamble.h). */
#ifndef AUTOTUNE_SCRIPT_KERNEL_FILE_H
#define AUTOTUNE_SCRIPT_KERNEL_FILE_H

#include "base/error.h"
#include "cpp/unit.h"
#include "script/included.h"
#include "script/script.h"

typedef struct kernel_file {
    char *name, *path; /* as the script spells it; as messages call it */
    cpp_unit *units;   /* of the file, and of the files that it includes */
    /* Of each: its text; its name from the folder in which it was found, by which all of its
     * #include lines have it; its path as found; the real one. */
    char **texts, **names, **paths, **reals;
    size_t count, capacity;
    char *text;       /* what is compiled; NULL before kernel_cut() */
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

/* Has the compiler compile a source of the file's. AT_USAGE: there is none. */
at_status kernel_file_compile(const script_compiler *compiler, const script_source *source,
                              char **ptx, char **log, at_error *error);

#endif
