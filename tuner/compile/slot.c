#include "compile/slot.h"

#include <stdlib.h>
#include <string.h>

#include "compile/wire.h"

void compile_job_free(compile_job *j)
{
    free(j->frame);
    free(j);
}

void compile_queue_push(compile_queue *q, compile_job *j)
{
    j->next = NULL;
    if (q->last)
        q->last->next = j;
    else
        q->first = j;
    q->last = j;
    q->count++;
}

void compile_queue_push_front(compile_queue *q, compile_job *j)
{
    j->next = q->first;
    q->first = j;
    if (!q->last)
        q->last = j;
    q->count++;
}

compile_job *compile_queue_pop(compile_queue *q)
{
    compile_job *j = q->first;
    if (!j)
        return NULL;
    q->first = j->next;
    if (!q->first)
        q->last = NULL;
    q->count--;
    return j;
}

static at_status encode_batch(compile_batch *b)
{
    message m = {.type = COMPILE_BATCH};
    pack_put_u32(&m.body, (uint32_t)b->jobs.count);
    unsigned char *head;
    size_t head_bytes;
    at_status status = message_encode(&m, &head, &head_bytes, NULL);
    message_deinit(&m);
    if (status)
        return status;
    b->size_bytes = head_bytes;
    for (const compile_job *j = b->jobs.first; j; j = j->next)
        b->size_bytes += j->frame_bytes;
    b->bytes = malloc(b->size_bytes);
    if (b->bytes) {
        unsigned char *at = b->bytes;
        memcpy(at, head, head_bytes);
        at += head_bytes;
        for (const compile_job *j = b->jobs.first; j; at += j->frame_bytes, j = j->next)
            memcpy(at, j->frame, j->frame_bytes);
    }
    free(head);
    return b->bytes ? AT_OK : AT_NO_MEMORY;
}

/* Moves the jobs of a queue to the head of another, in their order. */
static void move_to_front(compile_queue *from, compile_queue *to)
{
    if (!from->first)
        return;
    from->last->next = to->first;
    if (!to->last)
        to->last = from->last;
    to->first = from->first;
    to->count += from->count;
    *from = (compile_queue){0};
}

compile_batch *compile_batch_new(compile_queue *q, size_t most)
{
    compile_batch *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    const compile_job *first = q->first;
    do
        compile_queue_push(&b->jobs, compile_queue_pop(q));
    while (b->jobs.count < most && !first->alone && q->first && !q->first->alone &&
           q->first->kind == first->kind);
    b->size = b->jobs.count;
    if (encode_batch(b) == AT_OK)
        return b;
    move_to_front(&b->jobs, q);
    compile_batch_free(b);
    return NULL;
}

void compile_batch_free(compile_batch *b)
{
    for (compile_job *j; (j = compile_queue_pop(&b->jobs));)
        compile_job_free(j);
    free(b->bytes);
    free(b);
}

bool compile_slot_owes(const compile_slot *s)
{
    return s->process.pid != 0 && (s->batch_count > 0 || !s->greeted);
}

void compile_slot_give(compile_slot *s, compile_batch *b)
{
    b->sent_bytes = 0;
    s->batches[s->batch_count++] = b;
    compile_slot_flush(s);
}

static void drop_first_batch(compile_slot *s)
{
    compile_batch_free(s->batches[0]);
    s->batch_count--;
    memmove(s->batches, s->batches + 1, s->batch_count * sizeof s->batches[0]);
}

compile_job *compile_slot_first(const compile_slot *s)
{
    return s->batch_count ? s->batches[0]->jobs.first : NULL;
}

compile_job *compile_slot_take_first(compile_slot *s)
{
    compile_job *j = compile_queue_pop(&s->batches[0]->jobs);
    if (s->batches[0]->jobs.count == 0)
        drop_first_batch(s);
    return j;
}

void compile_slot_return(compile_slot *s, compile_queue *q)
{
    if (s->batch_count > 0 && s->batches[0]->size > 1)
        for (compile_job *j = s->batches[0]->jobs.first; j; j = j->next)
            j->alone = true;
    for (size_t i = s->batch_count; i-- > 0;) {
        move_to_front(&s->batches[i]->jobs, q);
        compile_batch_free(s->batches[i]);
    }
    s->batch_count = 0;
}

void compile_slot_flush(compile_slot *s)
{
    bool done = true;
    for (size_t i = 0; i < s->batch_count && done; i++) {
        compile_batch *b = s->batches[i];
        if (message_send_some(s->process.fd, b->bytes, b->size_bytes, &b->sent_bytes, &done, NULL))
            return;
    }
}

bool compile_slot_has_unsent(const compile_slot *s)
{
    const compile_batch *last = s->batch_count ? s->batches[s->batch_count - 1] : NULL;
    return last && last->sent_bytes < last->size_bytes;
}
