/* Kernels whose body is PTX, as inline assembly in CUDA C++.
 *
 * What was measured is the code that NVRTC made of a source. Another compiler makes other code of
 * it, which may be slower; given this, it makes the same. In: the PTX of a source. Out: kernels
 * with a number for each parameter.
 *
 * Not every kernel can be written so: not one that refers to something outside its body (constant
 * or global variables, functions), that takes a struct, or that the PTX lays down a cluster or a
 * number of registers for. */
#ifndef AUTOTUNE_EXPORT_INLINE_PTX_H
#define AUTOTUNE_EXPORT_INLINE_PTX_H

#include <stddef.h>

#include "base/error.h"
#include "export/kernels.h"

/* Writes a kernel for each of `entries` that has a name, and is the one of the PTX's `symbols`, on
 * a line each, at its place: under that name, or if this is no identifier as autotune_ptx_<e>. *out
 * is owned by the caller (free); NULL where one of them cannot be written, or none is there.
 * Errors: AT_FORMAT for what is no PTX, AT_NO_MEMORY. */
at_status export_inline_ptx(const char *ptx, size_t ptx_bytes, const char *symbols,
                            const export_entry *entries, size_t entry_count, char **out,
                            at_error *error);

#endif
