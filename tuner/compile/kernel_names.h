/* The names of kernels: what an entry names, which kernels a source has, and what to say where the
 * two do not meet.
 *
 * An entry is an expression of C++ that names one kernel: "scale", "ns::scale<64, float>",
 * "(void(*)(float*, int))scale". Sources are read word by word, not parsed: what macros make is not
 * seen. Nothing here decides what is compiled; it is for messages and places. */
#ifndef AUTOTUNE_COMPILE_KERNEL_NAMES_H
#define AUTOTUNE_COMPILE_KERNEL_NAMES_H

#include "compile/compile.h"

enum { KERNEL_NAME_BYTES = 256 };

/* The kernel's own name in an entry, which ends at its end or at a newline: "scale" in all of the
 * above; what does not fit is cut. */
void kernel_own_name(const char *entry, char name[KERNEL_NAME_BYTES]);

/* Says that an entry of a request names no kernel, or several, as the compiler's messages are: with
 * the place of the kernel that may have been meant and the names of all. `why` is what NVRTC says
 * of it. Owned by the caller; NULL: no memory. */
char *kernel_names_complain(const compile_request *r, const char *entry, const char *why);

/* Rewrites the log of a request that does not compile because an entry names no kernel, or
 * several: it then has that complaint in place of NVRTC's. *log is owned by the caller and
 * replaced; any other log, and one where memory runs out, stays. */
void kernel_names_explain(char **log, const compile_request *r);

#endif
