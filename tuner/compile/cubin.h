/* What a cubin itself says about a kernel: an ELF file with a section for each memory a kernel
 * uses.
 *
 * From compute capability 9.0 on, ptxas no longer states constant memory in its log. */
#ifndef AUTOTUNE_COMPILE_CUBIN_H
#define AUTOTUNE_COMPILE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the image is a cubin whose tables, sections and segments lie within it: what reads them by
 * the sizes that they state, as the driver does, stays inside. Any bytes are safe. */
bool cubin_is_whole(const void *cubin, size_t cubin_bytes);

/* Constant memory of kernel `entry`: the sections .nv.constant<bank>.<entry> (parameters, literals)
 * and .nv.constant<bank> (the module's). 0 when the image is not a whole ELF file. Any bytes are
 * safe. */
uint32_t cubin_constant_bytes(const void *cubin, size_t cubin_bytes, const char *entry);

#endif
