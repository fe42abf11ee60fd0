/* One compile worker and the requests in its socket.
 *
 * A request is kept as the frame to send, so that it can be sent to another worker when this one
 * dies on it. Frames are written as the socket takes them: the pool never waits for a worker. */
#ifndef AUTOTUNE_COMPILE_SLOT_H
#define AUTOTUNE_COMPILE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/message.h"
#include "process/process.h"

/* Requests in a worker's socket: the next is there when one is done. */
enum { COMPILE_DEPTH = 2 };

typedef struct compile_job {
    struct compile_job *next; /* in a list */
    uint64_t id;
    unsigned char *frame;
    size_t frame_bytes, sent_bytes;
    int attempts; /* workers that died on it */
} compile_job;

void compile_job_free(compile_job *j);

typedef struct compile_queue {
    compile_job *first, *last;
    size_t count;
} compile_queue;

void compile_queue_push(compile_queue *q, compile_job *j);
/* For a job that had its turn and lost its worker. */
void compile_queue_push_front(compile_queue *q, compile_job *j);
/* NULL when empty. */
compile_job *compile_queue_pop(compile_queue *q);

typedef struct compile_slot {
    worker process;
    message_reader reader;
    bool greeted;
    compile_job *jobs[COMPILE_DEPTH]; /* the first is being compiled */
    size_t job_count;
    int64_t deadline_ns; /* of the first, or of the greeting */
} compile_slot;

/* Whether a worker runs that owes an answer. */
bool compile_slot_owes(const compile_slot *s);

/* Adds a job behind those that the slot has, which are fewer than COMPILE_DEPTH. */
void compile_slot_give(compile_slot *s, compile_job *j);

/* Takes out the first job, which the caller then owns. */
compile_job *compile_slot_take_first(compile_slot *s);

/* Puts the jobs back at the head of the queue, in their order. */
void compile_slot_return(compile_slot *s, compile_queue *q);

/* Writes as much of the frames as the socket takes. A dead peer is found by reading. */
void compile_slot_flush(compile_slot *s);
bool compile_slot_has_unsent(const compile_slot *s);

#endif
