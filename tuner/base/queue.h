/* Items in the order in which they came: a list whose links are in the items.
 *
 * An item is any struct that begins with a queue_item; it is in one queue at a time and belongs to
 * whoever put it there. A zeroed queue is empty. Nothing allocates, so nothing fails. */
#ifndef AUTOTUNE_BASE_QUEUE_H
#define AUTOTUNE_BASE_QUEUE_H

#include <stddef.h>

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
