/* Reads compiled kernels: the sections of a cubin, an ELF file with one section for each kind of
 * memory of a kernel, and the identity of the code in a cubin or PTX. */
#ifndef AUTOTUNE_COMPILE_CUBIN_H
#define AUTOTUNE_COMPILE_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if the image is a cubin whose tables, sections and segments lie within it, so that a
 * reader that trusts the stated sizes, such as the driver, stays inside. Safe for any bytes. */
bool cubin_is_whole(const void *cubin, size_t cubin_bytes);

typedef struct cubin_section {
    const char *name;           /* view of the image */
    const unsigned char *bytes; /* view of the image; NULL if the section has none */
    uint32_t type;              /* ELF section type */
    uint64_t alignment, size_bytes;
} cubin_section;

/* Reads section `index` of an image that passed cubin_is_whole(). Returns false past the last. */
bool cubin_read_section(const void *cubin, size_t cubin_bytes, unsigned index, cubin_section *out);

/* Returns the bytes of constant memory of kernel `entry`: the sections .nv.constant<bank>.<entry>
 * (parameters, literals) and .nv.constant<bank> (of the module). ptxas does not log these bytes
 * from compute capability 9.0 on. Returns 0 if the image is not a valid ELF file. Safe for any
 * bytes. */
uint32_t cubin_constant_bytes(const void *cubin, size_t cubin_bytes, const char *entry);

typedef struct compile_code { /* an XXH3-128 hash */
    unsigned char bytes[16];
} compile_code;

/* Hashes the kernels `symbols` (one per line) of a cubin: instructions, literals, parameters,
 * shared memory, launch limits, and the module's constant and global memory. Kernels with the same
 * hash and the same launch do the same work in the same time. Names, source locations, positions in
 * the image and the register limit do not count. Returns false if the code refers to other parts of
 * the module or the image is damaged. Safe for any bytes. */
bool compile_code_of_cubin(const void *cubin, size_t cubin_bytes, const char *symbols,
                           compile_code *out);

/* Hashes a PTX text, except its comments and source locations. */
compile_code compile_code_of_ptx(const char *ptx);

#endif
