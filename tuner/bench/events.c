#include "bench/events.h"

#include <stdlib.h>

#include "base/memory.h"

typedef struct pending_event {
    queue_item item;
    uint64_t number; /* number of the question that it answers; 0 without a question */
    bool claimed;
    device_event event;
} pending_event;

void device_event_deinit(device_event *e)
{
    free(e->message);
    free(e->printed);
    free(e->ids);
    free(e->samples_ns);
    free(e->counters);
    free(e->results);
    *e = (device_event){0};
}

void device_events_push(queue *q, const request *r, const device_event *e)
{
    pending_event *p = memory_new(1, sizeof *p);
    p->event = *e;
    if (r) {
        p->number = r->number;
        p->claimed = r->claimed;
    }
    queue_push(q, p);
}

static bool is_wanted(const pending_event *p, const device_question *question)
{
    return question ? p->claimed && p->number == question->number && p->event.kind == question->kind
                    : !p->claimed;
}

static pending_event *find(const queue *q, const device_question *question)
{
    pending_event *p = q->first;
    while (p && !is_wanted(p, question))
        p = queue_next(p);
    return p;
}

bool device_events_has(const queue *q, const device_question *question)
{
    return find(q, question);
}

bool device_events_pop(queue *q, const device_question *question, device_event *out)
{
    pending_event *p = find(q, question);
    if (!p)
        return false;
    queue_remove(q, p);
    *out = p->event;
    free(p);
    return true;
}

void device_events_deinit(queue *q)
{
    for (pending_event *p; (p = queue_pop(q));) {
        device_event_deinit(&p->event);
        free(p);
    }
}
