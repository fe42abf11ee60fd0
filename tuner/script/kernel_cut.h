/* Cuts out of a kernel's own file (kernel_file.h) what the kernel does not need, and finds the
 * headers that the compiler gets beside it. */
#ifndef AUTOTUNE_SCRIPT_KERNEL_CUT_H
#define AUTOTUNE_SCRIPT_KERNEL_CUT_H

#include "script/kernel_file.h"

/* Asks the compiler which headers there are, and cuts out what the kernels do not need: `roots` are
 * texts with their names, `given` the names that are defined before the file is read. `host_dir`
 * has the headers that stand for the host's. AT_SCRIPT, AT_NO_MEMORY, and what the compiler's
 * process fails with. */
at_status kernel_cut(kernel_file *k, const cpp_span *roots, size_t root_count,
                     const cpp_span *given, size_t given_count, const char *host_dir,
                     const script_compiler *compiler, at_error *error);

#endif
