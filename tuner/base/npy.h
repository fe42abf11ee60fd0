/* The header of a NumPy file (.npy), versions 1 to 3 of "NEP 1: A simple file format for NumPy
 * arrays". A file consists of a magic number (six bytes), a version (two), the length of the header
 * (two; four from version 2 on), the header and the data. The header is a Python dictionary with
 * the members descr, fortran_order and shape in any order. Headers that NumPy would not write are
 * rejected. */
#ifndef AUTOTUNE_BASE_NPY_H
#define AUTOTUNE_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/value.h"

enum {
    NPY_MAX_RANK = 32,                /* NumPy's limit */
    NPY_MAX_HEADER_BYTES = 64 * 1024, /* longest header that is read; NumPy writes < 200 */
    NPY_NAME_BYTES = 24
};

typedef struct npy_header {
    char kind;           /* 'f' float, 'i' and 'u' integers, 'b' boolean, 'c' complex, 'V' bytes */
    uint32_t item_bytes; /* size of an element */
    bool big_endian;     /* false if an element is one byte */
    bool fortran;        /* columns are contiguous; false if at most one dimension is not 1 */
    uint32_t rank;       /* 0 for a single number */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t count;       /* number of elements */
    uint64_t data_offset; /* file offset of the first element, in bytes */
} npy_header;

/* Returns whether these bytes begin a NumPy file. */
bool npy_is(const void *bytes, size_t size_bytes);

/* Parses the header in the first NPY_MAX_HEADER_BYTES of a file. AT_FORMAT names no file. */
at_status npy_parse(const void *bytes, size_t size_bytes, npy_header *out, at_error *error);

/* Finds the buffer type that holds the array's bytes unchanged. Returns false if no type does, or
 * if the byte order differs. Booleans become uint8. Untyped elements of two bytes become bfloat16,
 * because ml_dtypes writes them so. */
bool npy_dtype(const npy_header *header, dtype *out);

/* Writes NumPy's name of the element type ("float64", "int32") to `text` and returns `text`. */
const char *npy_name(const npy_header *header, char text[NPY_NAME_BYTES]);

#endif
