#include "bench/request_queue.h"

#include <stdlib.h>

#include "base/memory.h"
#include "bench/wire.h"

request *request_new(message *m, uint64_t id)
{
    memory_have(m->body.failed ? NULL : m);
    request *r = memory_new(1, sizeof *r);
    *r = (request){.message = *m, .id = id};
    *m = (message){0};
    return r;
}

request *request_new_data(data_file *f, uint64_t chunk, uint64_t data_bytes)
{
    message none = {.type = REQUEST_DATA};
    request *r = request_new(&none, 0);
    r->data = data_file_keep(f);
    r->chunk = chunk;
    r->data_bytes = data_bytes;
    return r;
}

request *request_replay(const request *r)
{
    if (r->data) {
        request *again = request_new_data(r->data, r->chunk, r->data_bytes);
        again->number = r->number;
        again->silent = true;
        return again;
    }
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
    data_file_free(r->data);
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

/* Makes the message of a chunk. A file that cannot be read any more is told to the worker, whose
 * set-up then says so. */
static void load_chunk(request *r)
{
    unsigned char key[DATA_KEY_BYTES] = {0};
    at_error error = {0};
    const uint64_t offset = r->chunk * DATA_CHUNK_BYTES, left = r->data_bytes - offset;
    size_t size = 0;
    void *bytes = memory_new(DATA_CHUNK_BYTES, 1);
    at_status status = data_file_key(r->data, key, &error);
    if (!status)
        status = data_file_read(r->data, r->chunk, bytes, &size, &error);
    const device_chunk chunk = {.key = key,
                                .all_bytes = r->data_bytes,
                                .offset = offset,
                                .bytes = bytes,
                                .size_bytes = status        ? 0
                                              : size < left ? size
                                                            : (size_t)left,
                                .trouble = status ? error.message : ""};
    pack_deinit(&r->message.body);
    pack_put_u64(&r->message.body, r->number);
    pack_put_u64(&r->message.body, r->id);
    device_put_chunk(&r->message.body, &chunk);
    memory_have(r->message.body.failed ? NULL : r);
    free(bytes);
}

static at_status send_first(request_queue *q, int fd, bool *done, at_error *error)
{
    const message *m = &q->unsent->message;
    size_t sent = q->sent_bytes;
    at_status status = AT_OK;
    *done = true;
    if (sent == 0 && q->unsent->data)
        load_chunk(q->unsent);
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
        if (q->unsent->data)
            pack_deinit(&q->unsent->message.body);
        q->unsent = q->unsent->next;
        q->sent_bytes = 0;
    }
    return AT_OK;
}
