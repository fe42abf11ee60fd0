#include "bench/events.h"

#include <stdlib.h>

#include "base/memory.h"

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

void device_events_push(device_events *q, const request *r, device_event *e)
{
    event_link *link = memory_new(1, sizeof *link), **at = &q->first;
    *link = (event_link){.event = *e};
    if (r) {
        link->number = r->number;
        link->claimed = r->claimed;
    }
    while (*at)
        at = &(*at)->next;
    *at = link;
}

static bool is_wanted(const event_link *link, const device_question *question)
{
    return question ? link->claimed && link->number == question->number &&
                          link->event.kind == question->kind
                    : !link->claimed;
}

bool device_events_has(const device_events *q, const device_question *question)
{
    const event_link *link = q->first;
    while (link && !is_wanted(link, question))
        link = link->next;
    return link;
}

bool device_events_pop(device_events *q, const device_question *question, device_event *out)
{
    event_link **at = &q->first;
    while (*at && !is_wanted(*at, question))
        at = &(*at)->next;
    event_link *link = *at;
    if (!link)
        return false;
    *out = link->event;
    *at = link->next;
    free(link);
    return true;
}

void device_events_deinit(device_events *q)
{
    while (q->first) {
        event_link *next = q->first->next;
        device_event_deinit(&q->first->event);
        free(q->first);
        q->first = next;
    }
}
