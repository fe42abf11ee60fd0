/* Keeps the compile cache within its limit.
 *
 * A file beside the entries holds their total size, so that storing one does not require a walk
 * over all of them. When the total exceeds the limit they are walked, and the total is
 * corrected. */
#ifndef AUTOTUNE_COMPILE_TRIM_H
#define AUTOTUNE_COMPILE_TRIM_H

#include <stdint.h>

#include "base/error.h"

/* Adds `added_bytes` to the total of the cache in `dir`. If that exceeds the limit, the least
 * recently used entries are removed until nine tenths of the limit are left, and so are the
 * leftovers of interrupted writers. One process at a time trims; the others go on. AT_IO,
 * AT_NO_MEMORY. */
at_status compile_cache_account(const char *dir, uint64_t added_bytes, uint64_t limit_bytes,
                                at_error *error);

#endif
