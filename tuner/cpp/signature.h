/* A kernel's parameters as the compiler sees them, with typedefs, templates and macros resolved.
 * templates/kernel_file/signature.h, included after a kernel, makes an array from the kernel's type
 * (autotune_signature, if no other name is given). This module reads the array from the PTX. */
#ifndef AUTOTUNE_CPP_SIGNATURE_H
#define AUTOTUNE_CPP_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPP_MAX_PARAMETERS = 1024 };

/* Types besides the element types of base/value.h. Other negative numbers are unknown types.
 * Kernels never read the one byte of an empty class. */
enum { CPP_TYPE_BOOL = -2, CPP_TYPE_POINTER = -3, CPP_TYPE_EMPTY = -4 };

typedef struct cpp_argument {
    bool is_pointer, is_const; /* is_const: the pointer's target is const */
    int type;                  /* of one lane: an element type of base/value.h, or CPP_TYPE_... */
    uint32_t lanes;            /* 4 for a vector such as float4; 1 for a scalar */
    uint32_t bytes;            /* size of the argument, or of the pointer's target; 0 for void */
} cpp_argument;

/* Reads the array `name` from PTX text. Returns false if the PTX has no such array. If *count
 * exceeds CPP_MAX_PARAMETERS, `out` is not filled. */
bool cpp_signature_read(const char *ptx, const char *name, cpp_argument out[CPP_MAX_PARAMETERS],
                        size_t *count);

#endif
