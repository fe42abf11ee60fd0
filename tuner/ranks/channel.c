#include "ranks/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/memory.h"

void channel_add(channel_table *t, uint32_t rank, uint32_t number, worker socket)
{
    const channel c = {.rank = rank, .number = number, .worker = socket};
    memory_add(&t->items, &t->count, &c, sizeof c);
}

channel *channel_find(channel_table *t, uint32_t rank, uint32_t number)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i].rank == rank && t->items[i].number == number)
            return &t->items[i];
    return NULL;
}

void channel_remove(channel_table *t, channel *c)
{
    worker_stop(&c->worker, NULL, 0);
    free(c->waiting);
    *c = t->items[--t->count];
}

void channel_put(channel *c, const void *bytes, size_t size_bytes)
{
    if (c->waiting_bytes + size_bytes > c->capacity_bytes) {
        size_t capacity = 2 * (c->waiting_bytes + size_bytes);
        c->waiting = memory_require(realloc(c->waiting, capacity));
        c->capacity_bytes = capacity;
    }
    memcpy(c->waiting + c->waiting_bytes, bytes, size_bytes);
    c->waiting_bytes += size_bytes;
}

bool channel_flush(channel *c)
{
    size_t sent = 0;
    while (sent < c->waiting_bytes) {
        ssize_t n = send(c->worker.fd, c->waiting + sent, c->waiting_bytes - sent,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    c->waiting_bytes -= sent;
    if (sent > 0)
        memmove(c->waiting, c->waiting + sent, c->waiting_bytes);
    return !c->closing || c->waiting_bytes > 0;
}

void channel_table_deinit(channel_table *t)
{
    while (t->count > 0)
        channel_remove(t, &t->items[t->count - 1]);
    free(t->items);
    *t = (channel_table){0};
}
