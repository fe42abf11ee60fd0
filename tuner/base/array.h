/* Arrays that grow one item at a time, to twice their room whenever it is full; queues. */
#ifndef AUTOTUNE_BASE_ARRAY_H
#define AUTOTUNE_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* ---- ascending numbers ----
 *
 * Orders numbers for qsort() and bsearch(), the smallest first. */

int ascending_u64(const void *a, const void *b);    /* of uint64_t */
int ascending_i64(const void *a, const void *b);    /* of int64_t */
int ascending_double(const void *a, const void *b); /* none of them NaN */

/* ---- arrays that grow ---- */

/* Makes room for one more in an array of `count` items of `size` bytes, which has room for the next
 * power of two. NULL when memory ran out (the old array stays); the new item is zeroed. */
void *array_grow(void *items, size_t count, size_t size);

/* Appends a copy of `*item`, of `size` bytes, to the array at `*items` (`items` is the address of a
 * pointer to its first item). False when memory ran out: nothing has changed then. */
bool array_add(void *items, size_t *count, const void *item, size_t size);

/* ---- queues ----
 *
 * Items in the order in which they came: a list whose links are in the items.
 *
 * An item is any struct that begins with a queue_item; it is in one queue at a time and belongs to
 * whoever put it there. A zeroed queue is empty. Nothing allocates, so nothing fails. */

typedef struct queue_item {
    struct queue_item *next; /* NULL: the last */
} queue_item;

/* `last` means nothing in an empty queue. */
typedef struct queue {
    void *first, *last;
    size_t count;
} queue;

void queue_push(queue *q, void *item);
void queue_push_front(queue *q, void *item);

/* Takes the first item out; NULL when there is none. */
void *queue_pop(queue *q);

/* The item after this one; NULL: it is the last. */
void *queue_next(const void *item);

/* Takes an item out that is in the queue. */
void queue_remove(queue *q, void *item);

/* Moves all items to the front of another queue, in their order. */
void queue_move_front(queue *from, queue *to);

#endif
