/* A request to the device worker, from when it is asked until its answer is settled. */
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
    uint64_t number; /* of the question, which its answer repeats; a replay has its original's */
    bool claimed;    /* its answer is waited for by its number */
    bool silent;     /* a replay: its answer is no event */
    data_file *data; /* a user of it: the message is a chunk, and made when it is sent; NULL */
    uint64_t chunk, data_bytes; /* which; how many bytes of the file come in all */
    worker_blame blame;
} request;

/* A request that takes over `m`, which is empty afterwards. */
request *request_new(message *m, uint64_t id);
/* A request for a chunk of a file, of which `data_bytes` come in all. */
request *request_new_data(data_file *f, uint64_t chunk, uint64_t data_bytes);
/* A silent copy. */
request *request_replay(const request *r);
void request_free(request *r);       /* NULL is fine */
void requests_free(queue *requests); /* all of a queue */

#endif
