/* A request to the device worker, from its submission until its answer is handled. */
#ifndef AUTOTUNE_BENCH_REQUEST_H
#define AUTOTUNE_BENCH_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/data_file.h"
#include "process/supervised.h"

typedef struct request {
    outgoing out;
    uint64_t id;
    uint64_t number; /* unique number, repeated in the answer; a replay has the number of its original */
    bool claimed;    /* device_worker_await() takes its answer */
    bool silent;     /* a replay: its answer becomes no event */
    data_file *data; /* counted reference; the message is a chunk of this file and is made when it is sent. May be NULL */
    uint64_t chunk, data_bytes; /* number of the chunk; bytes of the file that are sent in total */
    worker_blame blame;
} request;

/* Returns a request that takes over `m`, which is empty afterwards. */
request *request_new(message *m, uint64_t id);
/* Returns a request for a chunk of a file. `data_bytes` of the file are sent in total. */
request *request_new_data(data_file *f, uint64_t chunk, uint64_t data_bytes);
/* Returns a silent copy of a request. */
request *request_replay(const request *r);
void request_free(request *r);       /* NULL is allowed */
void requests_free(queue *requests); /* frees all requests of a queue */

#endif
