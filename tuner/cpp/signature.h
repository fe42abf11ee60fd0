/* A kernel's parameters, as the compiler tells them.
 *
 * templates/kernel_file/signature.h, included after a kernel, makes an array of the kernel's type,
 * autotune_signature unless it is told another name, which PTX holds as bytes. That is the
 * compiler's own word: typedefs, templates and macros are resolved. */
#ifndef AUTOTUNE_CPP_SIGNATURE_H
#define AUTOTUNE_CPP_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPP_MAX_PARAMETERS = 1024 };

/* Types beside the element types of base/value.h; another is negative, too. An empty class has no
 * members: its one byte is never read. */
enum { CPP_TYPE_BOOL = -2, CPP_TYPE_POINTER = -3, CPP_TYPE_EMPTY = -4 };

typedef struct cpp_argument {
    bool is_pointer, is_const; /* const: what a pointer leads to */
    int type;       /* of the scalar, as base/value.h numbers element types, or one of CPP_TYPE_ */
    uint32_t lanes; /* of a vector such as float4: 4; else 1 */
    uint32_t bytes; /* of what a pointer leads to, or of the argument; 0: void */
} cpp_argument;

/* Reads the array of that name from PTX text. Returns false if it is not there. If *count is more
 * than CPP_MAX_PARAMETERS, nothing is read but that. */
bool cpp_signature_read(const char *ptx, const char *name, cpp_argument out[CPP_MAX_PARAMETERS],
                        size_t *count);

#endif
