/* Events of a device worker that its user has not taken yet, in the order in which they
 * happened. */
#ifndef AUTOTUNE_BENCH_EVENTS_H
#define AUTOTUNE_BENCH_EVENTS_H

#include "bench/client.h"
#include "bench/request_queue.h"

typedef struct event_link {
    struct event_link *next;
    uint64_t number; /* of the question that it answers; 0: of none */
    bool claimed;
    device_event event;
} event_link;

typedef struct device_events { /* zeroed: none */
    event_link *first;
} device_events;

/* Appends an event, whose memory it takes; `r` is the request that it answers, or NULL. */
void device_events_push(device_events *q, const request *r, device_event *e);

/* Is there an event that answers a claimed question, or (NULL) one that is not claimed? */
bool device_events_has(const device_events *q, const device_question *question);

/* Takes the first such event; false if there is none. */
bool device_events_pop(device_events *q, const device_question *question, device_event *out);

void device_events_deinit(device_events *q);

#endif
