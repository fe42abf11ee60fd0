/* The facts of a kernel in a cubin: an ELF file with a section for each kind of memory that a
 * kernel uses.
 *
 * From compute capability 9.0 on, ptxas no longer reports constant memory in its log. */
#ifndef AUTOTUNE_COMPILE_CUBIN_H
#define AUTOTUNE_COMPILE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the image a cubin whose tables, sections and segments lie within it? Then whatever reads them
 * by the sizes they state, as the driver does, stays inside. Any bytes are safe. */
bool cubin_is_whole(const void *cubin, size_t cubin_bytes);

typedef struct cubin_section {
    const char *name;           /* views into the image */
    const unsigned char *bytes; /* NULL: it has none in the file */
    uint32_t type;              /* as ELF numbers them */
    uint64_t alignment, size_bytes;
} cubin_section;

/* Section `index` of an image that is whole (cubin_is_whole); false past the last. */
bool cubin_read_section(const void *cubin, size_t cubin_bytes, unsigned index, cubin_section *out);

/* Constant memory of kernel `entry`: the sections .nv.constant<bank>.<entry> (parameters, literals)
 * and .nv.constant<bank> (the module's). 0 when the image is not a whole ELF file. Any bytes are
 * safe. */
uint32_t cubin_constant_bytes(const void *cubin, size_t cubin_bytes, const char *entry);

#endif
