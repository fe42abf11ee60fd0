/* The tuner's side of a device worker: its requests and events, and the life of its process, which
 * is started, fed, watched and replaced. Everything that happens to the process becomes an event.
 *
 * bench/client.c is the interface to other rooms. */
#ifndef AUTOTUNE_BENCH_SUPERVISE_H
#define AUTOTUNE_BENCH_SUPERVISE_H

#include "bench/client.h"
#include "bench/events.h"
#include "bench/request.h"

/* The messages of a process so far. */
typedef enum device_phase {
    PHASE_SILENT, /* none */
    PHASE_OPENED, /* it has described its device */
    PHASE_SERVING /* it waits for requests: only notes and answers follow */
} device_phase;

/* Starts a process for a worker. A test may return the end of a socket, with pid 0. */
typedef at_status (*device_starter)(void *context, worker *out, at_error *error);

struct device_worker {
    device_worker_options options;
    char spec[64];
    device_starter start;
    void *start_context;
    supervised child; /* its outbox holds the requests */
    device_phase phase;
    uint64_t begun; /* number of the current request of the process, from its notes; 0 if it has none */
    uint64_t last_number; /* number of the last request */
    request *setup;       /* kept for replays; NULL before it is answered */
    queue data;           /* kept for replays: chunks of files, in order */
    queue held;           /* kept for replays, in the order of the requests */
    queue events;         /* events that the caller has not taken, in order */
    bool waits;           /* the process is not started yet */
    bool opened;          /* DEVICE_OPENED was queued */
    bool failed;          /* DEVICE_FAILED was queued */
    at_error failure;     /* its status and message */
    bool up;              /* the current process has finished its set-up */
    int failed_starts, silent_starts, restarts;
    int idle_deaths; /* in a row, of processes that were set up and idle */
    char doing[96];  /* text of the last note */
    uint64_t doing_index;
    int64_t doing_limit_ns;
};

/* Like device_worker_start(), with another function that starts processes. `context` NULL means the
 * options of the worker. */
at_status device_worker_start_with(const device_worker_options *options, device_starter start,
                                   void *context, device_worker **out, at_error *error);

/* Starts the first process. Returns AT_IO if that is not possible. */
at_status device_watch_start(device_worker *w, at_error *error);

/* Starts the process of a worker with options.waits. If that is not possible, the worker fails. */
void device_watch_begin(device_worker *w);

/* Sends as much of the queue as the socket takes. Ignores a dead peer: device_watch_read() detects
 * it after the last messages of the peer. */
void device_watch_send(device_worker *w);

/* Drops the set-up and the held variants, so that they are not replayed. */
void device_watch_forget_setup(device_worker *w);


/* Reads a part of a reply, or detects the end of the process. */
void device_watch_read(device_worker *w);

/* Ends a process whose deadline has passed, blames its current request, and starts another
 * process. */
void device_watch_expire(device_worker *w);

/* Claims the answer to the latest request, which must not be taken yet. */
device_question device_watch_claim(device_worker *w);

#endif
