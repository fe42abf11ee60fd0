/* The messages between the compile pool and its workers, and the jobs that a worker has.
 *
 * A request is identified by its number in the pool, which its result repeats. A worker first sends
 * one HELLO or REFUSED, then answers each REQUEST with one RESULT, in order, and may send a WARNING
 * at any time. REQUEST_MORE messages and the REQUEST after them are a batch, which may be compiled
 * together (compile/worker.c). Getters return views of the pack, or false on bad data. */
#ifndef AUTOTUNE_COMPILE_WIRE_H
#define AUTOTUNE_COMPILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pack.h"
#include "compile/cache.h"
#include "compile/compile.h"
#include "process/supervised.h"

enum {
    COMPILE_HELLO = 0x100, /* body: version of NVRTC */
    COMPILE_REFUSED,       /* body: error message */
    COMPILE_REQUEST,
    COMPILE_REQUEST_MORE, /* a request followed by another of the same batch */
    COMPILE_RESULT,
    COMPILE_WARNING /* body: text */
};

/* Limit of the options in a script. A message with more options is corrupt. */
enum { COMPILE_OPTIONS_MAX = 64 };

/* Appends a request to a message. */
void compile_wire_put_request(pack *m, const compile_request *r);

/* Returns the cache key of a packed request: it covers all fields except the id. `compiler` is the
 * name and version of the compiler. */
compile_key compile_wire_key(const pack *request, const char *compiler);
/* Returns a hash that is equal for requests that may be in one group, or the id without memory. */
uint64_t compile_wire_kind(const compile_request *r);

/* Reads a request. `options` and `headers` receive the views to which *out points. */
bool compile_wire_get_request(pack *m, const char *options[COMPILE_OPTIONS_MAX],
                              source_header headers[SOURCE_HEADERS_MAX], compile_request *out);

/* Appends a result to a message. */
void compile_wire_put_result(pack *m, const compile_result *r);

/* Reads a result. *out consists of views: do not call compile_result_deinit(). */
bool compile_wire_get_result(pack *m, compile_result *out);

/* Batches per worker, so that another batch waits when one is finished. */
enum { COMPILE_DEPTH = 2 };

typedef struct compile_job {
    outgoing out;
    uint64_t id;     /* id of the caller's request */
    uint64_t number; /* unique number in the pool, the id on the wire */
    uint64_t kind;   /* hash that is equal for jobs that may be in the same batch */
    bool alone;      /* a worker died on a batch with this job */
    worker_blame blame;
} compile_job;

/* Frees a job and its message. */
void compile_job_free(compile_job *j);

/* A compile worker and its jobs. The child's outbox has all unanswered jobs in order, so that they
 * can go to another worker if this one dies. */
typedef struct compile_slot {
    supervised child;
    bool greeted; /* the worker has sent COMPILE_HELLO */
    struct {
        size_t size;          /* number of jobs at the start */
        size_t left;          /* jobs not answered yet; never 0 */
    } batches[COMPILE_DEPTH]; /* the first is being compiled */
    size_t batch_count;
    const worker_host *host; /* NULL for this host */
    int lost_starts;         /* failed starts in a row */
} compile_slot;

/* Gives the worker a batch: up to `most` jobs of one kind from the head of the queue, which must
 * not be empty. The slot must have fewer than COMPILE_DEPTH batches. */
void compile_slot_give(compile_slot *s, queue *from, size_t most);

/* Returns the job whose answer comes next, or NULL if there is none. */
compile_job *compile_slot_first(const compile_slot *s);

/* Removes and returns the job whose answer has come. The slot must have a job. */
compile_job *compile_slot_take_first(compile_slot *s);

/* Returns the jobs to the head of the queue, in order. Jobs of a started batch of several are
 * marked as `alone`, because any of them may have killed the worker. */
void compile_slot_return(compile_slot *s, queue *to);

/* Writes as much as the socket takes. A dead peer is detected by reading. */
void compile_slot_flush(compile_slot *s);

#endif
