/* Identifies compiled kernels by what they are to a device: kernels with the same number and the
 * same launch do the same, in the same time. */
#ifndef AUTOTUNE_COMPILE_CODE_H
#define AUTOTUNE_COMPILE_CODE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct compile_code { /* XXH3-128 */
    unsigned char bytes[16];
} compile_code;

/* The code of the kernels `symbols` (on a line each) in a cubin: instructions, literals,
 * parameters, shared memory and launch limits, and the module's constant and global memory. Names,
 * source locations, places in the image and the register limit do not count. False: not known,
 * because the code refers to something else in the module, or the image is not whole. Any bytes are
 * safe. */
bool compile_code_of_cubin(const void *cubin, size_t cubin_bytes, const char *symbols,
                           compile_code *out);

/* The code of a PTX text: all but comments and source locations. */
compile_code compile_code_of_ptx(const char *ptx);

#endif
