/* A queue of candidates, linked by their next_queued: each is in one at most. */
#ifndef AUTOTUNE_RUN_VARIANT_QUEUE_H
#define AUTOTUNE_RUN_VARIANT_QUEUE_H

#include "run/variant/variant.h"

typedef struct queue { /* zeroed: empty */
    candidate *first, *last;
    size_t count;
} queue;

/* Puts a candidate behind all others. */
void queue_push(queue *q, candidate *c);

/* Puts a candidate behind those that were asked for earlier, before those that were asked for
 * later; they are in that order if none was pushed. */
void queue_insert(queue *q, candidate *c);

/* Takes the first; NULL: there is none. */
candidate *queue_pop(queue *q);

#endif
