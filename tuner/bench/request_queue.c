#include "bench/request_queue.h"

#include <stdlib.h>

#include "base/memory.h"

request *request_new(message *m, uint64_t id)
{
    memory_have(m->body.failed ? NULL : m);
    request *r = memory_new(1, sizeof *r);
    *r = (request){.message = *m, .id = id};
    *m = (message){0};
    return r;
}

request *request_replay(const request *r)
{
    message copy = {.type = r->message.type};
    pack_append(&copy.body, r->message.body.bytes, r->message.body.size_bytes);
    request *replay = request_new(&copy, r->id);
    replay->number = r->number;
    replay->silent = true;
    return replay;
}

void request_free(request *r)
{
    if (!r)
        return;
    message_deinit(&r->message);
    free(r);
}

void request_queue_deinit(request_queue *q)
{
    while (q->first)
        request_free(request_queue_pop(q));
}

void request_queue_append(request_queue *q, request *r)
{
    r->next = NULL;
    if (q->last)
        q->last->next = r;
    else
        q->first = r;
    q->last = r;
    if (!q->unsent)
        q->unsent = r;
    q->count += !r->silent;
}

request *request_queue_pop(request_queue *q)
{
    request *r = q->first;
    if (!r)
        return NULL;
    q->first = r->next;
    if (!q->first)
        q->last = NULL;
    if (q->unsent == r) {
        q->unsent = r->next;
        q->sent_bytes = 0;
    }
    q->count -= !r->silent;
    r->next = NULL;
    return r;
}

bool request_queue_started(const request_queue *q)
{
    return q->first && q->unsent != q->first;
}

void request_queue_rewind(request_queue *q)
{
    request *kept = q->first;
    *q = (request_queue){0};
    while (kept) {
        request *next = kept->next;
        if (kept->silent)
            request_free(kept);
        else
            request_queue_append(q, kept);
        kept = next;
    }
}

static at_status send_first(request_queue *q, int fd, bool *done, at_error *error)
{
    const message *m = &q->unsent->message;
    size_t sent = q->sent_bytes;
    at_status status = AT_OK;
    *done = true;
    if (sent == 0)
        message_header(m, q->header);
    if (sent < sizeof q->header)
        status = message_send_some(fd, q->header, sizeof q->header, &sent, done, error);
    if (!status && *done) {
        size_t body = sent - sizeof q->header;
        status = message_send_some(fd, m->body.bytes, m->body.size_bytes, &body, done, error);
        sent = sizeof q->header + body;
    }
    q->sent_bytes = sent;
    return status;
}

at_status request_queue_send(request_queue *q, int fd, at_error *error)
{
    while (q->unsent) {
        bool done;
        at_status status = send_first(q, fd, &done, error);
        if (status || !done)
            return status;
        q->unsent = q->unsent->next;
        q->sent_bytes = 0;
    }
    return AT_OK;
}
