/* The life of the worker's process: started, fed, watched, buried, replaced; and what its replies
 * and its deaths mean as events.
 *
 * bench/client.c is the interface over this; nobody else includes it. Functions return AT_NO_MEMORY
 * (the worker stays usable); everything that happens to the process becomes events instead. */
#ifndef AUTOTUNE_BENCH_SUPERVISE_H
#define AUTOTUNE_BENCH_SUPERVISE_H

#include "bench/client.h"
#include "process/request_queue.h"
#include "process/process.h"

typedef struct event_link {
    struct event_link *next;
    device_event event;
} event_link;

struct device_worker {
    device_worker_options options;
    char spec[64];
    worker process;
    request_queue queue;
    request *setup;          /* kept for replays; NULL before it was answered */
    request *held;           /* kept for replays: a list in the order held */
    event_link *events, **events_end;
    bool opened;             /* DEVICE_OPENED was made */
    bool failed;             /* DEVICE_FAILED was made */
    bool up;                 /* this process has finished its set-up */
    int failed_starts, silent_starts, restarts;
    int64_t deadline_ns;     /* of what the process is doing; 0: it has nothing to do */
    char doing[96];          /* the last note's words */
    uint64_t doing_index;
    int64_t doing_limit_ns;
};

/* Starts the first process. AT_IO when there can be none. */
at_status device_watch_start(device_worker *w, at_error *error);

/* Sends as much of the queue as the socket takes. */
at_status device_watch_send(device_worker *w, at_error *error);

/* Reads one reply, which is there to be read, or finds that the process has ended. */
at_status device_watch_read(device_worker *w, at_error *error);

/* Ends the process because its time is up, blames what it was at, and starts another. */
at_status device_watch_expire(device_worker *w, at_error *error);

/* The oldest event that nobody took; false when there is none. */
bool device_watch_pop(device_worker *w, device_event *out);

#endif
