/* The compile cache: finished compilations on disk, found by the hash of everything that went into
 * them.
 *
 * An entry is one file, named by the XXH3-128 of the request and of the compiler, and carries the
 * XXH3-128 of its contents. Files appear by rename, so that any number of processes can share a
 * cache; an entry that is torn or altered is ignored and removed. Nothing is flushed to the disk: a
 * power cut may tear an entry, which is then such a file. When the entries outgrow the limit, the
 * least recently used are removed, down to nine tenths of it.
 *
 * Only their owner may access folders and files; an entry that another user owns or may write does
 * not count.
 *
 * A cache never stops a compilation: a failure only means that there is no entry. */
#ifndef AUTOTUNE_COMPILE_CACHE_H
#define AUTOTUNE_COMPILE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { COMPILE_CACHE_PATH_BYTES = 3072 };

typedef struct compile_cache {
    char dir[COMPILE_CACHE_PATH_BYTES];
    uint64_t limit_bytes;
    uint32_t serial; /* of temporary files */
} compile_cache;

typedef struct compile_key {
    uint64_t high, low;
} compile_key;

/* Finds the folder of the cache in `dir`, by compile_cache_open()'s rules. AT_IO: there is no place
 * for one. */
at_status compile_cache_folder(const char *dir, char *out, size_t out_bytes, at_error *error);

/* Opens the cache in `dir`, and makes it if need be; NULL: $XDG_CACHE_HOME/autotune or
 * ~/.cache/autotune. A relative path is made absolute here. `limit_bytes` 0: 1 GiB. AT_IO, with the
 * reason, if there can be none or others may write it. Nothing to close. */
at_status compile_cache_open(const char *dir, uint64_t limit_bytes, compile_cache *out,
                             at_error *error);

/* `identity` is the compiler and its version; `request` all the rest, unambiguously encoded. */
compile_key compile_cache_key(const char *identity, const void *request, size_t request_bytes);

/* Fetches the contents of an entry, owned by the caller (free). AT_NOT_FOUND: there is none, or it
 * is damaged; AT_NO_MEMORY. */
at_status compile_cache_get(const compile_cache *c, compile_key key, unsigned char **bytes,
                            size_t *size_bytes);

/* Stores an entry, and removes others if the cache has outgrown its limit. AT_IO. */
at_status compile_cache_put(compile_cache *c, compile_key key, const void *bytes, size_t size_bytes,
                            at_error *error);

#endif
