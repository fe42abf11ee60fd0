/* The header of a NumPy file (.npy), versions 1 to 3: NumPy's own "NEP 1: A simple file format for
 * NumPy arrays".
 *
 * A file is a magic of six bytes, a version of two, the header's length (two bytes, from version 2
 * on four), the header, and the data. The header is a Python dictionary with the members descr,
 * fortran_order and shape, in any order, with blanks anywhere. What NumPy would not write is
 * refused. */
#ifndef AUTOTUNE_BASE_NPY_H
#define AUTOTUNE_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

enum {
    NPY_MAX_RANK = 32,               /* NumPy's own limit */
    NPY_MAX_HEADER_BYTES = 64 * 1024 /* that npy_parse() may need; NumPy's are below 200 */
};

typedef struct npy_header {
    char kind;           /* 'f' float, 'i' and 'u' integers, 'b' boolean, 'c' complex, 'V' bytes */
    uint32_t item_bytes; /* of an element */
    bool big_endian;     /* false also where the order does not matter */
    bool fortran;        /* columns lie together; false where that is the same */
    uint32_t rank;       /* 0: a single number */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t count;       /* of elements, the product */
    uint64_t data_offset; /* where in the file the first is */
} npy_header;

/* Do these bytes begin a NumPy file? */
bool npy_is(const void *bytes, size_t size_bytes);

/* Reads the header that the bytes begin with: the file's, or its first NPY_MAX_HEADER_BYTES.
 * AT_FORMAT says what is wrong with it; `error` has no file. */
at_status npy_parse(const void *bytes, size_t size_bytes, npy_header *out, at_error *error);

/* The element type of a buffer that such an array can fill as it lies; false: there is none, or its
 * bytes are in another order. Booleans are uint8, and two bytes without a type bfloat16, as
 * ml_dtypes writes them. */
bool npy_dtype(const npy_header *header, dtype *out);

/* "float64", "int32" ... as NumPy calls the elements; in `text`. */
enum { NPY_NAME_BYTES = 24 };
const char *npy_name(const npy_header *header, char text[NPY_NAME_BYTES]);

#endif
