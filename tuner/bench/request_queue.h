/* Requests on their way to a worker: a list in the order of the answers to come, sent without ever
 * blocking, and sent again from the front when the worker was replaced.
 *
 * A worker that hangs does not read; a blocking write to it would hang the tuner with it. */
#ifndef AUTOTUNE_BENCH_REQUEST_QUEUE_H
#define AUTOTUNE_BENCH_REQUEST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "base/error.h"
#include "process/message.h"

typedef struct request {
    struct request *next;
    message message;
    uint64_t id;
    uint64_t number; /* of the question, which its answer repeats; a replay has its original's */
    bool claimed;    /* its answer is waited for by its number */
    bool silent;     /* a replay: its answer is no event */
    data_file *data; /* a user of it: the message is a chunk, and made when it is sent; NULL */
    uint64_t chunk, data_bytes; /* which; how many bytes of the file come in all */
    int deaths;                 /* workers that died on it without saying why */
    int kills;                  /* workers that were killed from outside while they were at it */
} request;

typedef struct request_queue {
    request *first, *last;
    size_t count;      /* those that are not silent */
    request *unsent;   /* the first that is not wholly sent; NULL: all are */
    size_t sent_bytes; /* of its frame */
    unsigned char header[MESSAGE_HEADER_BYTES]; /* of its frame, once sent_bytes > 0 */
} request_queue;

/* A request that takes over `m`, which is empty afterwards. */
request *request_new(message *m, uint64_t id);
/* A request for a chunk of a file, of which `data_bytes` come in all. */
request *request_new_data(data_file *f, uint64_t chunk, uint64_t data_bytes);
/* A silent copy. */
request *request_replay(const request *r);
void request_free(request *r); /* NULL is fine */

void request_queue_deinit(request_queue *q);
void request_queue_append(request_queue *q, request *r);
/* Takes the oldest request off; NULL when there is none. The caller owns it. */
request *request_queue_pop(request_queue *q);

/* Has the oldest request been sent as a whole, so that the worker may be at it? */
bool request_queue_started(const request_queue *q);

/* Forgets what was sent: a new worker gets everything. Silent requests are dropped. */
void request_queue_rewind(request_queue *q);

/* Sends as much as the socket takes now. AT_WORKER when the peer is gone. */
at_status request_queue_send(request_queue *q, int fd, at_error *error);

#endif
