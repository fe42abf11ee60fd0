/* The compile cache: results of compilations on disk, found by a hash of all their inputs.
 *
 * An entry is one file. Its name is the XXH3-128 of the request and the compiler. The file contains
 * the XXH3-128 of its contents. Entries are written to a temporary file and renamed, so any number
 * of processes can share a cache. A power cut may damage an entry, because files are not flushed to
 * the disk. Damaged entries are ignored and removed. When the entries exceed the size limit, the
 * least recently used are removed until nine tenths of the limit are left.
 *
 * Only the owner may access the folders and files. Entries that another user owns or may write are
 * ignored. A failure of the cache counts as a missing entry. */
#ifndef AUTOTUNE_COMPILE_CACHE_H
#define AUTOTUNE_COMPILE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { COMPILE_CACHE_PATH_BYTES = 3072 };

typedef struct compile_cache {
    char dir[COMPILE_CACHE_PATH_BYTES];
    uint64_t limit_bytes;
    uint32_t serial; /* number of the next temporary file */
} compile_cache;

typedef struct compile_key {
    uint64_t high, low;
} compile_key;

/* Writes the path of the cache folder to `out`, by the rules of compile_cache_open(). Returns AT_IO
 * if no folder is known or its path is too long. */
at_status compile_cache_folder(const char *dir, char *out, size_t out_bytes, at_error *error);

/* Opens the cache in `dir` and creates the folder if it is missing. `dir` NULL means
 * $XDG_CACHE_HOME/autotune or ~/.cache/autotune; a relative path is made absolute. `limit_bytes` 0
 * means 1 GiB. The caller need not close the cache. Returns AT_IO with the reason if the folder
 * cannot be made or others may write it. */
at_status compile_cache_open(const char *dir, uint64_t limit_bytes, compile_cache *out,
                             at_error *error);

/* Returns the key of a request. `identity` names the compiler and its version; `request` is
 * everything else, encoded without ambiguity. */
compile_key compile_cache_key(const char *identity, const void *request, size_t request_bytes);

/* Reads an entry; the caller frees *bytes. Returns AT_NOT_FOUND without a valid entry,
 * AT_NO_MEMORY. */
at_status compile_cache_get(const compile_cache *c, compile_key key, unsigned char **bytes,
                            size_t *size_bytes);

/* Stores an entry. Removes other entries if the cache exceeds its limit. Returns AT_IO. */
at_status compile_cache_put(compile_cache *c, compile_key key, const void *bytes, size_t size_bytes,
                            at_error *error);

#endif
