#include "base/queue.h"

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
