#include "process/poll_set.h"

/* The wait if a socket had no place. */
enum { SHORT_WAIT_MS = 10 };

void poll_set_start(poll_set *s, int timeout_ms)
{
    s->count = 0;
    s->timeout_ms = timeout_ms;
}

void poll_set_add(poll_set *s, int fd, bool unsent)
{
    if (fd < 0)
        return;
    if (s->count == POLL_SET_MOST) {
        poll_set_shorten(s, SHORT_WAIT_MS);
        return;
    }
    s->fds[s->count++] =
        (struct pollfd){.fd = fd, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))};
}

void poll_set_shorten(poll_set *s, int deadline_ms)
{
    if (deadline_ms >= 0 && (s->timeout_ms < 0 || deadline_ms < s->timeout_ms))
        s->timeout_ms = deadline_ms;
}

int poll_set_wait(poll_set *s)
{
    return poll(s->fds, (nfds_t)s->count, s->timeout_ms);
}
