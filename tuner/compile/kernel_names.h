/* Names of kernels: the kernel in an entry, the kernels in a source, and messages for entries that
 * match no kernel.
 *
 * An entry is a C++ expression that names a kernel: "scale", "ns::scale<64, float>",
 * "(void(*)(float*, int))scale". Sources are scanned word by word, without macro expansion: the
 * results serve only messages and line numbers. */
#ifndef AUTOTUNE_COMPILE_KERNEL_NAMES_H
#define AUTOTUNE_COMPILE_KERNEL_NAMES_H

#include "compile/compile.h"

enum { KERNEL_NAME_BYTES = 256 };

/* Copies the name of the kernel in an entry, which ends at its NUL or newline: "scale" in all
 * examples above. A longer name is cut. */
void kernel_name_of_entry(const char *entry, char name[KERNEL_NAME_BYTES]);

/* Returns a compiler-like message for an entry that names no kernel, or several: file and line of
 * the most likely kernel, and the names of all kernels. `why` is NVRTC's message. The caller frees
 * it. Returns NULL without memory. */
char *kernel_names_complain(const compile_request *r, const char *entry, const char *why);

/* Replaces NVRTC's messages about entries that name no kernel, or several, by messages of
 * kernel_names_complain(). The caller owns *log. It stays if memory is lacking. */
void kernel_names_explain(char **log, const compile_request *r);

#endif
