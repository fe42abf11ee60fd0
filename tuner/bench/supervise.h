/* The life of the worker's process: it is started, fed, watched and replaced, and its replies and
 * deaths become events.
 *
 * bench/client.c is the interface over this; no one else includes it. Everything that
 * happens to the process becomes an event. */
#ifndef AUTOTUNE_BENCH_SUPERVISE_H
#define AUTOTUNE_BENCH_SUPERVISE_H

#include "bench/client.h"
#include "bench/events.h"
#include "bench/request.h"

/* The messages of a process so far, in this order. */
typedef enum device_phase {
    PHASE_SILENT, /* nothing yet */
    PHASE_OPENED, /* it described its device */
    PHASE_SERVING /* it waits for requests: only notes and answers to them come now */
} device_phase;

/* Makes a process for a worker (or, in a test, what stands for one: the end of a socket, pid 0). */
typedef at_status (*device_starter)(void *context, worker *out, at_error *error);

struct device_worker {
    device_worker_options options;
    char spec[64];
    device_starter start;
    void *start_context;
    supervised child; /* its outbox holds the requests */
    device_phase phase;
    uint64_t begun; /* number of the request that this process is working on, as it said; 0: none */
    uint64_t last_number; /* of a request */
    request *setup;       /* kept for replays; NULL before it was answered */
    queue data;           /* kept for replays: chunks of files, in order */
    queue held;           /* kept for replays, in the order held */
    queue events;         /* of bench/events.h */
    bool waits;           /* there is no process yet */
    bool opened;          /* DEVICE_OPENED was made */
    bool failed;          /* DEVICE_FAILED was made */
    at_error failure;     /* what it said */
    bool up;              /* this process has finished its set-up */
    int failed_starts, silent_starts, restarts;
    int idle_deaths; /* in a row, of processes that were set up and idle */
    char doing[96];  /* the last note's words */
    uint64_t doing_index;
    int64_t doing_limit_ns;
};

/* Like device_worker_start, with processes of `start`'s; `context` NULL: the worker's options. */
at_status device_worker_start_with(const device_worker_options *options, device_starter start,
                                   void *context, device_worker **out, at_error *error);

/* Starts the first process. AT_IO if none can be started. */
at_status device_watch_start(device_worker *w, at_error *error);

/* The same for a worker that waited; where none can be started the device failed. */
void device_watch_begin(device_worker *w);

/* Sends as much of the queue as the socket takes. It ignores a peer that is gone:
 * device_watch_read() finds that, after the peer's last messages. */
void device_watch_send(device_worker *w);

/* Forgets the set-up and the held variants: they are not replayed. */
void device_watch_forget_setup(device_worker *w);

/* Forgets the contents of files, when no process follows. */
void device_watch_forget_data(device_worker *w);

/* Reads what has arrived of one reply, or finds that the process has ended. */
void device_watch_read(device_worker *w);

/* Ends the process because its time is up, blames the request it was working on, and starts
 * another. */
void device_watch_expire(device_worker *w);

/* Claims the answer to the latest request, which has not been taken yet. */
device_question device_watch_claim(device_worker *w);

#endif
