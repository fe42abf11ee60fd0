#include "process/supervised.h"

#include "base/clock.h"

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

at_status outbox_send(outbox *b, int fd, at_error *error)
{
    while (b->unsent) {
        outgoing *o = b->unsent;
        bool done;
        if (b->sent_bytes == 0) {
            if (o->fill)
                o->fill(o);
            message_header(&o->message, b->header);
        }
        at_status status =
            message_send_some(fd, b->header, &o->message, &b->sent_bytes, &done, error);
        if (status || !done)
            return status;
        if (o->fill)
            pack_deinit(&o->message.body);
        b->unsent = queue_next(o);
        b->sent_bytes = 0;
    }
    return AT_OK;
}

enum { MAX_DEATHS = 3, MAX_KILLS = 8, LONGEST_MS = 3600000 };

bool worker_blame_add(worker_blame *b, worker_death death)
{
    if (death == DEATH_TIMEOUT)
        return true;
    return death == DEATH_KILLED ? ++b->kills >= MAX_KILLS : ++b->deaths >= MAX_DEATHS;
}

supervised supervised_make(void)
{
    return (supervised){.process.fd = -1};
}

void supervised_begin(supervised *s, int64_t limit_ns)
{
    message_reader_deinit(&s->reader);
    supervised_expect(s, limit_ns);
}

void supervised_expect(supervised *s, int64_t limit_ns)
{
    s->deadline_ns = clock_now_ns() + limit_ns;
}

int supervised_left_ms(const supervised *s)
{
    if (s->deadline_ns == 0)
        return -1;
    int64_t left_ms = (s->deadline_ns - clock_now_ns() + 999999) / 1000000;
    return left_ms < 0 ? 0 : left_ms > LONGEST_MS ? LONGEST_MS : (int)left_ms;
}

bool supervised_is_late(const supervised *s)
{
    return s->deadline_ns != 0 && clock_now_ns() >= s->deadline_ns;
}

void supervised_poll(const supervised *s, poll_set *set)
{
    poll_set_add(set, s->process.fd, s->out.unsent != NULL);
    poll_set_shorten(set, supervised_left_ms(s));
}

at_status supervised_take(supervised *s, message *out, worker_death *death)
{
    at_status status = message_reader_take(&s->reader, s->process.fd, out, NULL);
    if (status && status != AT_NOT_FOUND)
        *death = status == AT_WORKER && message_peer_closed(s->process.fd) ? DEATH_EXITED
                                                                           : DEATH_INVALID;
    return status;
}

void supervised_stop(supervised *s)
{
    worker_stop(&s->process, NULL, 0);
    message_reader_deinit(&s->reader);
    s->deadline_ns = 0;
}

worker_death supervised_end(supervised *s, worker_death death, int grace_ms, char *how,
                            size_t how_bytes)
{
    bool of_itself = death != DEATH_TIMEOUT && death != DEATH_INVALID;
    /* A worker closes its socket shortly before waitpid() reports its end, so wait for this. */
    worker_end end = worker_collect(&s->process, of_itself ? grace_ms : 0, how, how_bytes);
    supervised_stop(s);
    return of_itself && end == WORKER_KILLED ? DEATH_KILLED : death;
}
