#include "base/keymap.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 64 };

struct keymap_slot {
    uint64_t key;
    uint64_t stored; /* the value plus one; 0 marks a free slot */
};

void keymap_deinit(keymap *m)
{
    free(m->slots);
    *m = (keymap){0};
}

/* Keys are often small consecutive numbers: the finalizer of SplitMix64 spreads them. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The slot that holds `key`, or the free one where it belongs; the table is never full. */
static keymap_slot *locate(keymap_slot *slots, size_t capacity, uint64_t key)
{
    size_t at = (size_t)mix(key) & (capacity - 1);
    while (slots[at].stored && slots[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

bool keymap_get(const keymap *m, uint64_t key, uint64_t *value)
{
    if (m->capacity == 0)
        return false;
    const keymap_slot *slot = locate(m->slots, m->capacity, key);
    if (slot->stored)
        *value = slot->stored - 1;
    return slot->stored != 0;
}

static bool grow(keymap *m)
{
    size_t capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY;
    keymap_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < m->capacity; i++)
        if (m->slots[i].stored)
            *locate(slots, capacity, m->slots[i].key) = m->slots[i];
    free(m->slots);
    m->slots = slots;
    m->capacity = capacity;
    return true;
}

bool keymap_put(keymap *m, uint64_t key, uint64_t value)
{
    /* At most two thirds full, so that probes stay short. */
    if (3 * (m->count + 1) > 2 * m->capacity && !grow(m))
        return false;
    keymap_slot *slot = locate(m->slots, m->capacity, key);
    if (!slot->stored)
        m->count++;
    *slot = (keymap_slot){.key = key, .stored = value + 1};
    return true;
}

size_t keymap_bytes(const keymap *m)
{
    return m->capacity * sizeof *m->slots;
}

/* ---- hashes as text ---- */

void hash_text(XXH128_hash_t hash, char text[HASH_TEXT_BYTES])
{
    snprintf(text, HASH_TEXT_BYTES, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
