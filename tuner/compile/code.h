/* What compiled kernels are to a device, as a number: kernels of one number that are launched alike do the
 * same, in the same time. */
#ifndef AUTOTUNE_COMPILE_CODE_H
#define AUTOTUNE_COMPILE_CODE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct compile_code { /* XXH3-128 */
    unsigned char bytes[16];
} compile_code;

/* The code of the kernels `entries` (a blank between two) in a cubin, where `suffix` follows their names:
 * instructions, literals, parameters, shared memory and limits of a launch, and what the module has of
 * constant and global memory. Names, places of the source, where in the image it lies and how many registers
 * it might have taken are no part of it. False: not known, for the code refers to something else in the
 * module, or the image is not whole. Any bytes are safe. */
bool compile_code_of_cubin(const void *cubin, size_t cubin_bytes, const char *entries, const char *suffix,
                           compile_code *out);

/* The code of a PTX text: all but comments and places of the source. */
compile_code compile_code_of_ptx(const char *ptx);

#endif
