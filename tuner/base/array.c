#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int ascending_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int ascending_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int ascending_double(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void *array_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) {
        size_t capacity = count ? count * 2 : 1;
        if (size > 0 && capacity > SIZE_MAX / size)
            return NULL;
        /* Allocates at least one byte, because `size` is 0 if a space has no parameters. */
        items = realloc(items, capacity * size + !size);
    }
    if (items)
        memset((char *)items + count * size, 0, size);
    return items;
}

bool array_add(void *items, size_t *count, const void *item, size_t size)
{
    void *grown;
    memcpy(&grown, items, sizeof grown);
    grown = array_grow(grown, *count, size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    memcpy((char *)grown + (*count)++ * size, item, size);
    return true;
}

void queue_push(queue *q, void *item)
{
    ((queue_item *)item)->next = NULL;
    if (q->first)
        ((queue_item *)q->last)->next = item;
    else
        q->first = item;
    q->last = item;
    q->count++;
}

void queue_push_front(queue *q, void *item)
{
    ((queue_item *)item)->next = q->first;
    if (!q->first)
        q->last = item;
    q->first = item;
    q->count++;
}

void *queue_pop(queue *q)
{
    void *item = q->first;
    if (item) {
        q->first = queue_next(item);
        q->count--;
    }
    return item;
}

void *queue_next(const void *item)
{
    return ((const queue_item *)item)->next;
}

void queue_remove(queue *q, void *item)
{
    queue_item *before = q->first;
    if (before == item) {
        queue_pop(q);
        return;
    }
    while (before->next != item)
        before = before->next;
    before->next = queue_next(item);
    if (q->last == item)
        q->last = before;
    q->count--;
}

void queue_move_front(queue *from, queue *to)
{
    if (from->first) {
        ((queue_item *)from->last)->next = to->first;
        if (!to->first)
            to->last = from->last;
        to->first = from->first;
        to->count += from->count;
    }
    *from = (queue){0};
}

enum { FIRST_CAPACITY = 64 };

struct keymap_slot {
    uint64_t key;
    uint64_t stored; /* the value plus 1; 0 in a free slot */
};

void keymap_deinit(keymap *m)
{
    free(m->slots);
    *m = (keymap){0};
}

/* Spreads keys, which are often small consecutive numbers, by the finalizer of SplitMix64. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns the slot of `key`, or the free slot for it. The table is never full. */
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
    /* Grows a table that is two thirds full, so that probe sequences stay short. */
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
