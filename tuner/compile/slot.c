#include "compile/slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

bool compile_slot_owes(const compile_slot *s)
{
    return s->process.pid != 0 && (s->job_count > 0 || !s->greeted);
}

void compile_slot_give(compile_slot *s, compile_job *j)
{
    j->sent_bytes = 0;
    s->jobs[s->job_count++] = j;
    compile_slot_flush(s);
}

compile_job *compile_slot_take_first(compile_slot *s)
{
    compile_job *j = s->jobs[0];
    s->job_count--;
    memmove(s->jobs, s->jobs + 1, s->job_count * sizeof s->jobs[0]);
    return j;
}

void compile_slot_return(compile_slot *s, compile_queue *q)
{
    while (s->job_count > 0)
        compile_queue_push_front(q, s->jobs[--s->job_count]);
}

void compile_slot_flush(compile_slot *s)
{
    for (size_t i = 0; i < s->job_count; i++) {
        compile_job *j = s->jobs[i];
        while (j->sent_bytes < j->frame_bytes) {
            ssize_t n = send(s->process.fd, j->frame + j->sent_bytes,
                             j->frame_bytes - j->sent_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return;
            j->sent_bytes += (size_t)n;
        }
    }
}

bool compile_slot_has_unsent(const compile_slot *s)
{
    const compile_job *last = s->job_count ? s->jobs[s->job_count - 1] : NULL;
    return last && last->sent_bytes < last->frame_bytes;
}
