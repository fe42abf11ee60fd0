#include "process/outbox.h"

void outbox_push(outbox *b, void *item)
{
    queue_push(&b->waiting, item);
    if (!b->unsent)
        b->unsent = item;
}

void *outbox_pop(outbox *b)
{
    outgoing *o = queue_pop(&b->waiting);
    if (o && b->unsent == o) {
        b->unsent = b->waiting.first;
        b->sent_bytes = 0;
    }
    return o;
}

bool outbox_started(const outbox *b)
{
    return b->waiting.first && b->unsent != b->waiting.first;
}

static at_status send_first(outbox *b, int fd, bool *done, at_error *error)
{
    outgoing *o = b->unsent;
    size_t sent = b->sent_bytes;
    at_status status = AT_OK;
    *done = true;
    if (sent == 0 && o->fill)
        o->fill(o);
    if (sent == 0)
        message_header(&o->message, b->header);
    if (sent < sizeof b->header)
        status = message_send_some(fd, b->header, sizeof b->header, &sent, done, error);
    if (!status && *done) {
        const pack *body = &o->message.body;
        size_t of_body = sent - sizeof b->header;
        status = message_send_some(fd, body->bytes, body->size_bytes, &of_body, done, error);
        sent = sizeof b->header + of_body;
    }
    b->sent_bytes = sent;
    return status;
}

at_status outbox_send(outbox *b, int fd, at_error *error)
{
    while (b->unsent) {
        bool done;
        at_status status = send_first(b, fd, &done, error);
        if (status || !done)
            return status;
        if (b->unsent->fill)
            pack_deinit(&b->unsent->message.body);
        b->unsent = queue_next(b->unsent);
        b->sent_bytes = 0;
    }
    return AT_OK;
}
