#include "compile/slot.h"

#include <stdlib.h>
#include <string.h>

#include "compile/wire.h"

void compile_job_free(compile_job *j)
{
    message_deinit(&j->out.message);
    free(j);
}

void compile_slot_give(compile_slot *s, queue *from, size_t most)
{
    const compile_job *first = from->first, *next;
    compile_job *j;
    size_t size = 0;
    do {
        j = queue_pop(from);
        next = from->count ? from->first : NULL;
        size++;
        bool more = size < most && !first->alone && next && !next->alone && next->kind == j->kind;
        j->out.message.type = more ? COMPILE_REQUEST_MORE : COMPILE_REQUEST;
        outbox_push(&s->child.out, j);
    } while (j->out.message.type == COMPILE_REQUEST_MORE);
    s->batches[s->batch_count].size = s->batches[s->batch_count].left = size;
    s->batch_count++;
    compile_slot_flush(s);
}

compile_job *compile_slot_first(const compile_slot *s)
{
    return s->child.out.waiting.first;
}

compile_job *compile_slot_take_first(compile_slot *s)
{
    if (--s->batches[0].left == 0) {
        s->batch_count--;
        memmove(s->batches, s->batches + 1, s->batch_count * sizeof s->batches[0]);
    }
    return outbox_pop(&s->child.out);
}

void compile_slot_return(compile_slot *s, queue *to)
{
    compile_job *j = compile_slot_first(s);
    for (size_t i = 0; s->batch_count && s->batches[0].size > 1 && i < s->batches[0].left; i++) {
        j->alone = true;
        j = queue_next(j);
    }
    queue_move_front(&s->child.out.waiting, to);
    s->child.out = (outbox){0};
    s->batch_count = 0;
}

void compile_slot_flush(compile_slot *s)
{
    outbox_send(&s->child.out, s->child.process.fd, NULL);
}
