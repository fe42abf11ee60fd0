/* One compile worker and the requests that are with it.
 *
 * Requests are given in batches, which the worker may compile as one program (compile/group.h). A
 * request is kept until it is answered, so that it can go to another worker if this one dies. They
 * are written as the socket takes them: the pool never waits for a worker. */
#ifndef AUTOTUNE_COMPILE_SLOT_H
#define AUTOTUNE_COMPILE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/supervised.h"

/* Batches with a worker, so that the next one is there when one is done. */
enum { COMPILE_DEPTH = 2 };

typedef struct compile_job {
    outgoing out;
    uint64_t id;     /* the caller's */
    uint64_t number; /* the pool's, which no other job has: the id on the wire */
    uint64_t kind;   /* what it shares with those that may be in its batch */
    bool alone;      /* a worker died on a batch that it was in */
    worker_blame blame;
} compile_job;

void compile_job_free(compile_job *j);

/* The outbox of the child holds the jobs of all batches, those of the first first; what is answered
 * has left it. `left` is never 0. */
typedef struct compile_slot {
    supervised child;
    bool greeted;
    struct {
        size_t size;          /* jobs that it had at first */
        size_t left;          /* not answered yet */
    } batches[COMPILE_DEPTH]; /* the first is being compiled */
    size_t batch_count;
    const worker_host *host; /* NULL: this one */
    int lost_starts;         /* elsewhere, in a row */
} compile_slot;

/* Adds a batch after those that the slot has, which are fewer than COMPILE_DEPTH: up to `most` jobs
 * of one kind from the head of the queue, which is not empty. */
void compile_slot_give(compile_slot *s, queue *from, size_t most);

/* The job whose answer comes next; NULL when the slot owes none. */
compile_job *compile_slot_first(const compile_slot *s);

/* Takes that job out; the caller then owns it. */
compile_job *compile_slot_take_first(compile_slot *s);

/* Puts the jobs back at the head of the queue, in order. If a batch of several jobs was begun they
 * are marked: the worker may have died of any of them. */
void compile_slot_return(compile_slot *s, queue *to);

/* Writes as much as the socket takes. Reading finds out about a dead peer. */
void compile_slot_flush(compile_slot *s);

#endif
