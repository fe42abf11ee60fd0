/* Events of a device worker that its user has not taken yet, in the order in which they
 * happened. */
#ifndef AUTOTUNE_BENCH_EVENTS_H
#define AUTOTUNE_BENCH_EVENTS_H

#include "bench/client.h"
#include "bench/request.h"

/* Queues an event, which takes over the memory of `e`. `r` is the request that it answers, or
 * NULL. */
void device_events_push(queue *q, const request *r, const device_event *e);

/* Returns true if there is an event that answers a claimed question, or with NULL an event that is
 * not claimed. */
bool device_events_has(const queue *q, const device_question *question);

/* Takes the first such event. Returns false if there is none. */
bool device_events_pop(queue *q, const device_question *question, device_event *out);

void device_events_deinit(queue *q);

#endif
