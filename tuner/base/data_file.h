/* A file of a user's own data: a NumPy array (base/npy.h), or elements of a type without a header.
 * A list of values in memory is read in the same way.
 *
 * It is opened and described at once, and read when it is needed, in chunks of which nothing is
 * kept: a file may be larger than memory. Its identity is a hash of its elements, made by the first
 * reading; each later one is compared with that, so that a file that changes meanwhile is an error
 * and never mixed data. It is used by one thread, and freed with its last user. */
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
    const char *path; /* as it was opened */
    dtype type;
    uint64_t count; /* of elements; 1 or more */
    uint32_t rank;  /* 1 for a file without a header */
    uint64_t shape[NPY_MAX_RANK];
    uint64_t size_bytes; /* of the elements */
} data_description;

/* Opens a regular file. `raw`: the type of the elements; NULL: the file says it, which must be a
 * NumPy file then. One that says it although `raw` does must agree. AT_NOT_FOUND, AT_IO; AT_FORMAT
 * with the remedy: no header, not as C lays elements out, another byte order, a type that no buffer
 * has, no elements, fewer bytes than the shape needs or others after them. */
at_status data_file_open(const char *path, const dtype *raw, data_file **out, at_error *error);

/* Opens part of a file of elements alone: `count` of them, 1 or more, from byte `offset` on.
 * AT_FORMAT: it has fewer. */
at_status data_file_open_part(const char *path, dtype type, uint64_t offset, uint64_t count,
                              data_file **out, at_error *error);

/* Describes `count` elements, 1 or more, that repeat a list of `value_count` elements. Copies the
 * list. `name` stands for the path. AT_NO_MEMORY. */
at_status data_file_repeat(const char *name, dtype type, const void *values, uint64_t value_count,
                           uint64_t count, data_file **out, at_error *error);

/* One more user, who is as good as the first. */
data_file *data_file_keep(data_file *f);
void data_file_free(data_file *f); /* one less; NULL is fine */

const data_description *data_file_describe(const data_file *f);

/* The hash of type and elements, in `key`; of a repeated list, of its type, values and count. Reads
 * the file the first time. AT_IO: it cannot be read,
 * or has changed. */
at_status data_file_key(data_file *f, unsigned char key[DATA_KEY_BYTES], at_error *error);

/* Reads a chunk (all have DATA_CHUNK_BYTES but the last) into `out`, which has room for
 * DATA_CHUNK_BYTES; *size_bytes gets its size. AT_IO as data_file_key(), which has succeeded
 * before. */
at_status data_file_read(const data_file *f, uint64_t chunk, void *out, size_t *size_bytes,
                         at_error *error);

/* The first `size_bytes` of the elements, read into memory of the caller's (free). AT_IO,
 * AT_NO_MEMORY. */
at_status data_file_head(data_file *f, uint64_t size_bytes, void **out, at_error *error);

#endif
