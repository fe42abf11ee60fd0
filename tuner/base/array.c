#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- ascending numbers ---- */

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

/* ---- arrays that grow ---- */

void *array_grow(void *items, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) {
        size_t capacity = count ? count * 2 : 1;
        if (size > 0 && capacity > SIZE_MAX / size)
            return NULL;
        /* Items may have no bytes: configurations of a space without parameters. */
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

/* ---- queues ---- */

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
