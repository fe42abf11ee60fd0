#include "bench/supervise.h"

#include <stdlib.h>

#include "base/memory.h"
#include "bench/wire.h"

request *request_new(device_message type, uint64_t number, uint64_t id)
{
    request *r = memory_new(1, sizeof *r);
    *r = (request){.out.message.type = type, .number = number, .id = id};
    pack_put_u64(&r->out.message.body, number);
    pack_put_u64(&r->out.message.body, id);
    return r;
}

/* Makes the message of a chunk. If the file cannot be read any more, the message contains the
 * reason, and the worker's set-up fails. */
static void load_chunk(outgoing *o)
{
    request *r = (request *)o;
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
    pack_deinit(&r->out.message.body);
    pack_put_u64(&r->out.message.body, r->number);
    pack_put_u64(&r->out.message.body, r->id);
    device_put_chunk(&r->out.message.body, &chunk);
    memory_require(r->out.message.body.failed ? NULL : r);
    free(bytes);
}

request *request_new_data(uint64_t number, data_file *f, uint64_t chunk, uint64_t data_bytes)
{
    request *r = request_new(REQUEST_DATA, number, 0);
    r->out.fill = load_chunk;
    r->data = data_file_keep(f);
    r->chunk = chunk;
    r->data_bytes = data_bytes;
    return r;
}

request *request_replay(const request *r)
{
    const pack *body = &r->out.message.body;
    request *replay;
    if (r->data) {
        replay = request_new_data(r->number, r->data, r->chunk, r->data_bytes);
    } else {
        replay = memory_new(1, sizeof *replay);
        *replay = (request){.out.message.type = r->out.message.type,
                            .number = r->number,
                            .id = r->id,
                            .samples = r->samples};
        pack_append(&replay->out.message.body, body->bytes, body->size_bytes);
        memory_require(replay->out.message.body.failed ? NULL : replay);
    }
    replay->silent = true;
    return replay;
}

void request_free(request *r)
{
    if (!r)
        return;
    message_deinit(&r->out.message);
    data_file_free(r->data);
    free(r->ids);
    free(r);
}

void requests_free(queue *requests)
{
    for (request *r; (r = queue_pop(requests));)
        request_free(r);
}

typedef struct pending_event {
    queue_item item;
    uint64_t number; /* number of the question that the event answers; 0 without a question */
    bool claimed;
    device_event event;
} pending_event;

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
