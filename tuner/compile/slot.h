/* One compile worker and the requests in its socket.
 *
 * Requests are sent in batches, which the worker may compile as one program (compile/group.h). A
 * request is kept as the frame that was sent, so that it can go to another worker if this one dies.
 * Frames are written as the socket takes them: the pool never waits for a worker. */
#ifndef AUTOTUNE_COMPILE_SLOT_H
#define AUTOTUNE_COMPILE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/message.h"
#include "process/process.h"

/* Batches in a worker's socket, so that the next one is there when one is done. */
enum { COMPILE_DEPTH = 2 };

typedef struct compile_job {
    struct compile_job *next; /* in a list */
    uint64_t id;              /* the caller's */
    uint64_t number; /* the pool's, which no other job has: the id in the frame and in the answer */
    unsigned char *frame;
    size_t frame_bytes;
    uint64_t kind; /* what it shares with those that may be in its batch */
    bool alone;    /* a worker died on a batch that it was in */
    int attempts;  /* workers that died on it, and on nothing else */
    int kills;     /* workers that were killed from outside while they worked on it */
} compile_job;

void compile_job_free(compile_job *j);

typedef struct compile_queue {
    compile_job *first, *last;
    size_t count;
} compile_queue;

void compile_queue_push(compile_queue *q, compile_job *j);
/* Puts a job in front whose worker died on it. */
void compile_queue_push_front(compile_queue *q, compile_job *j);
/* NULL when empty. */
compile_job *compile_queue_pop(compile_queue *q);

/* Jobs that go to a worker together; they are answered one by one, in order. */
typedef struct compile_batch {
    compile_queue jobs;   /* not answered yet */
    size_t size;          /* jobs that it had at first */
    unsigned char *bytes; /* to send: how many there are, and their frames */
    size_t size_bytes, sent_bytes;
} compile_batch;

/* Takes up to `most` jobs of one kind from the head of the queue, which is not empty. NULL if
 * memory runs out; the queue is unchanged then. */
compile_batch *compile_batch_new(compile_queue *q, size_t most);
void compile_batch_free(compile_batch *b);

typedef struct compile_slot {
    worker process;
    message_reader reader;
    bool greeted;
    compile_batch *batches[COMPILE_DEPTH]; /* the first is being compiled */
    size_t batch_count;
    int64_t deadline_ns;     /* of the first, or of the greeting */
    uint32_t lane;           /* of the trace */
    const worker_host *host; /* NULL: this one */
    int lost_starts;         /* elsewhere, in a row */
    int64_t busy_ns;         /* when it began what it is doing */
} compile_slot;

/* Does a worker run that owes an answer? */
bool compile_slot_owes(const compile_slot *s);

/* Adds a batch after those that the slot has, which are fewer than COMPILE_DEPTH. */
void compile_slot_give(compile_slot *s, compile_batch *b);

/* The job whose answer comes next; NULL when the slot owes none. */
compile_job *compile_slot_first(const compile_slot *s);

/* Takes that job out; the caller then owns it. */
compile_job *compile_slot_take_first(compile_slot *s);

/* Puts the jobs back at the head of the queue, in order. If a batch of several jobs was begun they
 * are marked: the worker may have died of any of them. */
void compile_slot_return(compile_slot *s, compile_queue *q);

/* Writes as much of the frames as the socket takes. Reading finds out about a dead peer. */
void compile_slot_flush(compile_slot *s);
bool compile_slot_has_unsent(const compile_slot *s);

#endif
