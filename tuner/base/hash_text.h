/* XXH3-128 hashes as text: 32 hex digits, as records, journals and summaries hold them. */
#ifndef AUTOTUNE_BASE_HASH_TEXT_H
#define AUTOTUNE_BASE_HASH_TEXT_H

#include <xxhash.h>

enum { HASH_TEXT_BYTES = 33 }; /* with the NUL */

/* Writes the digits, the high half first, and a NUL. */
void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES]);

#endif
