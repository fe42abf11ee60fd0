#include "run/variant/queue.h"

void queue_push(queue *q, candidate *c)
{
    c->next_queued = NULL;
    *(q->first ? &q->last->next_queued : &q->first) = c;
    q->last = c;
    q->count++;
}

void queue_insert(queue *q, candidate *c)
{
    if (!q->first || q->last->id < c->id) {
        queue_push(q, c);
        return;
    }
    candidate **at = &q->first;
    while ((*at)->id < c->id)
        at = &(*at)->next_queued;
    c->next_queued = *at;
    *at = c;
    q->count++;
}

candidate *queue_pop(queue *q)
{
    candidate *c = q->first;
    if (!c)
        return NULL;
    q->first = c->next_queued;
    q->count--;
    return c;
}
