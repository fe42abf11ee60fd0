/* The set that one wait waits for: the sockets of all workers, and the longest time.
 *
 * Every module with workers adds their sockets and the time by which it must look again; the event
 * loop waits once for all of them. */
#ifndef AUTOTUNE_PROCESS_POLL_SET_H
#define AUTOTUNE_PROCESS_POLL_SET_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* A worker a core and two devices. */
enum { POLL_SET_MOST = 1100 };

typedef struct poll_set {
    struct pollfd fds[POLL_SET_MOST];
    size_t count;
    int timeout_ms; /* < 0: none */
} poll_set;

/* An empty set that waits up to `timeout_ms` (< 0: for ever). */
void poll_set_start(poll_set *s, int timeout_ms);

/* Adds a socket to be read, and written to when `unsent`; -1 is none. One too many is left out, and
 * then the wait is short. */
void poll_set_add(poll_set *s, int fd, bool unsent);

/* Waits no longer than `deadline_ms` (< 0: there is none). */
void poll_set_shorten(poll_set *s, int deadline_ms);

/* Waits. Returns how many sockets have something to say, -1 when a signal came. */
int poll_set_wait(poll_set *s);

#endif
