/* The compile cache: finished compilations on disk, found by the hash of all that went into them.
 *
 * An entry is one file, named by the XXH3-128 of the request and of the compiler that served it,
 * and carries the XXH3-128 of its contents. Files appear by rename, so that any number of processes
 * share a cache; what is torn or altered is ignored and removed. Nothing is flushed to the disk: an
 * entry that a power cut tears is such a file. When the entries outgrow the limit, those whose use
 * lies back furthest go, down to nine tenths of it.
 *
 * Folders and files are their owner's alone; an entry that another user owns or may write is none.
 *
 * A cache never stops a compilation: every function's failure only means that there is no entry. */
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

/* Opens (and makes) the cache in `dir`; NULL: $XDG_CACHE_HOME/autotune or ~/.cache/autotune.
 * A relative path is made absolute here. `limit_bytes` 0: 1 GiB. AT_IO when there can be none, or
 * others may write it, saying why. Nothing to close. */
at_status compile_cache_open(const char *dir, uint64_t limit_bytes, compile_cache *out,
                             at_error *error);

/* `identity` is the compiler and its version; `request` all the rest, unambiguously encoded. */
compile_key compile_cache_key(const char *identity, const void *request, size_t request_bytes);

/* Fetches an entry's contents, owned by the caller (free). AT_NOT_FOUND when there is none or a
 * damaged one; AT_NO_MEMORY. */
at_status compile_cache_get(const compile_cache *c, compile_key key, unsigned char **bytes,
                            size_t *size_bytes);

/* Stores an entry, and makes room when the cache has outgrown its limit. AT_IO. */
at_status compile_cache_put(compile_cache *c, compile_key key, const void *bytes, size_t size_bytes,
                            at_error *error);

#endif
