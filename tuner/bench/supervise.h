/* The tuner's side of a device worker: its requests and events, and the life of its process, which
 * is started, fed, watched and replaced. Everything that happens to the process becomes an event.
 * bench/client.c is the interface for other code. */
#ifndef AUTOTUNE_BENCH_SUPERVISE_H
#define AUTOTUNE_BENCH_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "bench/wire.h"
#include "process/supervised.h"

typedef struct request {
    outgoing out;
    uint64_t id;
    /* unique number, repeated in the answer; a replay has the number of its original */
    uint64_t number;
    bool claimed;    /* device_worker_await() takes its answer */
    bool silent;     /* a replay, whose answer becomes no event */
    data_file *data; /* counted reference; the message is a chunk of this file and is made when it
                        is sent. May be NULL */
    uint64_t chunk, data_bytes; /* number of the chunk; bytes of the file that are sent in total */
    size_t samples; /* number of samples in a successful answer; SIZE_MAX for any number */
    size_t metrics; /* COUNT: number of metrics */
    uint64_t *ids;  /* owned; BLOCK: the variants, one for each of `samples` */
    worker_blame blame;
} request;

/* Returns a request whose message contains the fields that all requests have: number and id. */
request *request_new(device_message type, uint64_t number, uint64_t id);
/* Returns a request for a chunk of a file. `data_bytes` of the file are sent in total. */
request *request_new_data(uint64_t number, data_file *f, uint64_t chunk, uint64_t data_bytes);
/* Returns a silent copy of a request. */
request *request_replay(const request *r);
void request_free(request *r);       /* `r` may be NULL */
void requests_free(queue *requests); /* Frees all requests of a queue. */

/* Queues an event, which takes over the memory of `e`. `r` is the answered request, or NULL. */
void device_events_push(queue *q, const request *r, const device_event *e);

/* Returns true if an event answers `question`, or if `question` is NULL and an event is not
 * claimed. */
bool device_events_has(const queue *q, const device_question *question);

/* Takes the first event that device_events_has() finds. Returns false if there is none. */
bool device_events_pop(queue *q, const device_question *question, device_event *out);

void device_events_deinit(queue *q);

/* ---- the worker ---- */

/* Phases of a worker process, by the messages that it has sent. */
typedef enum device_phase {
    PHASE_SILENT, /* no message */
    PHASE_OPENED, /* REPLY_OPENED, which describes its device */
    PHASE_SERVING /* the process waits for requests: only notes and answers follow */
} device_phase;

/* Starts a process for a worker. A test may give its end of a socket instead, with pid 0. */
typedef at_status (*device_starter)(void *context, worker *out, at_error *error);

struct device_worker {
    device_worker_options options;
    char spec[64];
    device_starter start;
    void *start_context;
    supervised child; /* its outbox holds the requests */
    device_phase phase;
    /* number of the process's current request, from its notes; 0 without a request */
    uint64_t begun;
    uint64_t last_number; /* number of the last request */
    request *setup;       /* kept for replays; NULL before it is answered */
    queue data;           /* kept for replays: chunks of files, in order */
    queue held;           /* kept for replays, in the order of the requests */
    queue events;         /* events that the caller has not taken, in order */
    bool waits;           /* the process is not started yet */
    bool opened;          /* DEVICE_OPENED was queued */
    bool failed;          /* DEVICE_FAILED was queued */
    at_error failure;     /* status and message of that event */
    bool up;              /* the current process has finished its set-up */
    int failed_starts, silent_starts, restarts;
    int idle_deaths; /* deaths in a row of processes that were set up and idle */
    char doing[96];  /* text of the last note */
    uint64_t doing_index;
    int64_t doing_limit_ns;
};

/* Like device_worker_start(), with another function that starts processes. A NULL `context` means
 * the options of the worker. */
at_status device_worker_start_with(const device_worker_options *options, device_starter start,
                                   void *context, device_worker **out, at_error *error);

/* Starts the first process. Returns AT_IO if that is not possible. */
at_status device_watch_start(device_worker *w, at_error *error);

/* Sends as much of the queue as the socket takes. Ignores a dead peer: device_watch_read() detects
 * it after the last messages of the peer. */
void device_watch_send(device_worker *w);

/* Drops the set-up and the held variants, so that they are not replayed. */
void device_watch_forget_setup(device_worker *w);

/* Reads a part of a reply, or detects the end of the process. */
void device_watch_read(device_worker *w);

/* Ends a process past its deadline, blames its current request, and starts another process. */
void device_watch_expire(device_worker *w);

/* Claims the answer to the latest request, which must not be taken yet. */
device_question device_watch_claim(device_worker *w);

#endif
