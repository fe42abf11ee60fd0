/* Hashes as keys of a map and as text. A hash map from uint64_t keys to uint64_t values, for
 * memoisation.
 *
 * Open addressing, grows by doubling, never shrinks; nothing is removed. A zero-initialised map is
 * empty and valid. Keys are any integers; values are below UINT64_MAX. The map owns its table. */
#ifndef AUTOTUNE_BASE_KEYMAP_H
#define AUTOTUNE_BASE_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

typedef struct keymap_slot keymap_slot;

typedef struct keymap {
    keymap_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
} keymap;

void keymap_deinit(keymap *m);

/* Finds `key`; false when it is absent, and then *value is untouched. */
bool keymap_get(const keymap *m, uint64_t key, uint64_t *value);

/* Sets the value of `key`, new or not. False when memory ran out: the map is as before. */
bool keymap_put(keymap *m, uint64_t key, uint64_t value);

/* The bytes of its table. */
size_t keymap_bytes(const keymap *m);

/* ---- hashes as text ----
 *
 * XXH3-128 hashes as text: 32 hex digits, as records, journals and summaries hold them. */

enum { HASH_TEXT_BYTES = 33 }; /* with the NUL */

/* Writes the digits, the high half first, and a NUL. */
void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES]);

#endif
