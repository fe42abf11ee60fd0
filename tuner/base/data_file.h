/* Files with the user's data: a NumPy array, or elements of one type without a header. A list of
 * values in memory is read in the same way.
 *
 * Opening a file reads only its header. The elements are read later, in chunks, so a file may be
 * larger than memory. The first reading computes a hash of each chunk, and later readings compare
 * with it: a file that changes during a run is an error. A data_file is used by one thread and
 * counts its users. */
#ifndef AUTOTUNE_BASE_DATA_FILE_H
#define AUTOTUNE_BASE_DATA_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/npy.h"
#include "base/value.h"

enum { DATA_CHUNK_BYTES = 4 << 20, DATA_KEY_BYTES = 16 };

typedef struct data_file data_file;

typedef struct data_description {
    const char *path; /* path given when the file was opened */
    dtype type;
    uint64_t count; /* number of elements, at least 1 */
    uint32_t rank;  /* 1 for a file without a header */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t size_bytes; /* size of all elements */
} data_description;

/* Opens a regular file. `raw` is the element type; if it is NULL, the file must have a NumPy
 * header. If both give a type, the types must agree. AT_NOT_FOUND, AT_IO; AT_FORMAT, with the
 * remedy, if the header is missing or unsupported, the array is empty, or the file's size does not
 * match its shape. */
at_status data_file_open(const char *path, const dtype *raw, data_file **out, at_error *error);

/* Opens `count` elements (at least 1) of a file without a header, from byte `offset` on. AT_FORMAT
 * if the file has fewer. */
at_status data_file_open_part(const char *path, dtype type, uint64_t offset, uint64_t count,
                              data_file **out, at_error *error);

/* Makes a data file of `count` elements (at least 1) that repeat a list of `value_count` values.
 * Copies the list. `name` stands for the path. AT_NO_MEMORY. */
at_status data_file_repeat(const char *name, dtype type, const void *values, uint64_t value_count,
                           uint64_t count, data_file **out, at_error *error);

/* Adds a user and returns `f`. */
data_file *data_file_keep(data_file *f);

/* Removes a user; the last one frees the file. `f` may be NULL. */
void data_file_free(data_file *f);

/* Returns the description, which the file owns. */
const data_description *data_file_describe(const data_file *f);

/* Computes the hash of the type and the elements; for a repeated list, of its type, values and
 * count. The first call reads the whole file. AT_IO if the file cannot be read. */
at_status data_file_key(data_file *f, unsigned char key[DATA_KEY_BYTES], at_error *error);

/* Reads a chunk into `out`, which has room for DATA_CHUNK_BYTES. Only the last chunk is shorter.
 * Call data_file_key() first. AT_IO if the file has changed. */
at_status data_file_read(const data_file *f, uint64_t chunk, void *out, size_t *size_bytes,
                         at_error *error);

/* Reads the first `size_bytes` of the elements; the caller frees `*out`. AT_IO, AT_NO_MEMORY. */
at_status data_file_head(data_file *f, uint64_t size_bytes, void **out, at_error *error);

#endif
