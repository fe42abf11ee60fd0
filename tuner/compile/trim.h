/* Keeping the compile cache within its limit.
 *
 * The sum of the entries is kept in a file beside them, so that storing one does not cost a walk
 * over all; the walk happens when the sum exceeds the limit, and corrects the sum. */
#ifndef AUTOTUNE_COMPILE_TRIM_H
#define AUTOTUNE_COMPILE_TRIM_H

#include <stdint.h>

#include "base/error.h"

/* Counts `added_bytes` to the cache in `dir`. When that exceeds the limit, removes the entries used
 * longest ago until nine tenths of the limit are left, and what interrupted writers left behind.
 * One process at a time trims; the others go on. AT_IO, AT_NO_MEMORY. */
at_status compile_cache_account(const char *dir, uint64_t added_bytes, uint64_t limit_bytes,
                                at_error *error);

#endif
