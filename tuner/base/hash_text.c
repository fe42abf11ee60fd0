#include "base/hash_text.h"

#include <stdio.h>

void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES])
{
    snprintf(text, HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
