/* Containers: growing arrays, queues, hash maps; comparison functions for qsort() and bsearch(). */
#ifndef AUTOTUNE_BASE_ARRAY_H
#define AUTOTUNE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- comparison functions for qsort() and bsearch(): the smallest number comes first ---- */

int ascending_u64(const void *a, const void *b);    /* compares uint64_t */
int ascending_i64(const void *a, const void *b);    /* compares int64_t */
int ascending_double(const void *a, const void *b); /* compares double; no value is NaN */

/* ---- arrays that grow ----
 * The capacity is always the next power of two, so it is not stored. */

/* Makes room for one more item in an array of `count` items of `size` bytes and zeroes that item.
 * Returns the array, which may have moved. Returns NULL if memory ran out; the old array stays. */
void *array_grow(void *items, size_t count, size_t size);

/* Appends a copy of `*item`, of `size` bytes. `items` is the address of the pointer to the array.
 * Returns false, and changes nothing, if memory ran out. */
bool array_add(void *items, size_t *count, const void *item, size_t size);

/* ---- queues ----
 * First-in, first-out lists of structs that begin with a queue_item. An item is in at most one
 * queue, and the caller keeps owning it. A zeroed queue is empty. No function allocates or
 * fails. */

typedef struct queue_item {
    struct queue_item *next; /* NULL in the last item */
} queue_item;

typedef struct queue {
    void *first, *last; /* `last` is undefined in an empty queue */
    size_t count;
} queue;

/* Add an item at the end of the queue, or at its front. */
void queue_push(queue *q, void *item);
void queue_push_front(queue *q, void *item);

/* Removes the first item and returns it. Returns NULL if the queue is empty. */
void *queue_pop(queue *q);

/* Returns the item after `item`. Returns NULL if `item` is the last. */
void *queue_next(const void *item);

/* Removes `item`, which must be in the queue. */
void queue_remove(queue *q, void *item);

/* Moves all items of `from`, in their order, to the front of `to`. */
void queue_move_front(queue *from, queue *to);

/* ---- hash maps ----
 * A map from uint64_t keys to uint64_t values below UINT64_MAX. The map uses open addressing and
 * never removes a key. A zeroed map is empty. */

typedef struct keymap_slot keymap_slot;

typedef struct keymap {
    keymap_slot *slots; /* owned */
    size_t capacity;    /* 0 or a power of two */
    size_t count;
} keymap;

/* Frees the table and leaves an empty map. */
void keymap_deinit(keymap *m);

/* Writes the value of `key` to `*value`. Returns false, and writes nothing, if `key` is absent. */
bool keymap_get(const keymap *m, uint64_t key, uint64_t *value);

/* Sets the value of `key`. Returns false, and changes nothing, if memory ran out. */
bool keymap_put(keymap *m, uint64_t key, uint64_t value);

/* Returns the size of the table in bytes. */
size_t keymap_bytes(const keymap *m);

#endif
