/* A worker that may die, hang or speak nonsense: what is on its way to it, what has come of its
 * answer, the time by which it must be done, and how it ended.
 *
 * Whoever has one starts it (worker_start), says what it may take (supervised_expect), and when it
 * is to be ended (supervised_end); a new process may follow in the same struct. A request on which
 * several of them died is to blame for it (worker_blame). */
#ifndef AUTOTUNE_PROCESS_SUPERVISED_H
#define AUTOTUNE_PROCESS_SUPERVISED_H

#include <stdbool.h>

#include "base/array.h"
#include "base/trace.h"
#include "process/message.h"
#include "process/poll_set.h"
#include "process/process.h"

/* ---- messages that wait to be sent ----
 *
 * Messages on their way to a worker: a queue in the order of the answers to come, sent without ever
 * blocking.
 *
 * A worker that hangs does not read; a blocking write to it would hang the tuner with it. A message
 * stays in the queue until its answer takes it out, so that it can go to another worker if this one
 * dies. */

/* Every struct that waits for an answer begins with this. */
typedef struct outgoing {
    queue_item item;
    message message; /* owned by whoever owns the item */
    /* Makes the message's body when it is to be sent; it is freed again once it is. NULL: the body
     * is there. */
    void (*fill)(struct outgoing *o);
} outgoing;

/* Zeroed: empty. All before `unsent` are wholly sent, none after it has begun. */
typedef struct outbox {
    queue waiting;     /* outgoing */
    outgoing *unsent;  /* the first that is not wholly sent; NULL: all are */
    size_t sent_bytes; /* of its frame */
    unsigned char header[MESSAGE_HEADER_BYTES]; /* of its frame, once sent_bytes > 0 */
} outbox;

void outbox_push(outbox *b, void *item);

/* Takes the oldest out; NULL when there is none. */
void *outbox_pop(outbox *b);

/* Has the oldest been sent as a whole, so that the worker may be at it? */
bool outbox_started(const outbox *b);

/* Sends as much as the socket takes now. AT_WORKER when the peer is gone. */
at_status outbox_send(outbox *b, int fd, at_error *error);

/* ---- a supervised worker ---- */

/* The way in which a process came to its end. */
typedef enum worker_death {
    DEATH_OWN,    /* it exited or faulted */
    DEATH_KILLED, /* from outside: by a person, or for want of memory */
    DEATH_LATE,   /* its time is up */
    DEATH_LIED    /* it said what does not belong there */
} worker_death;

/* The workers that died on one request. */
typedef struct worker_blame {
    int deaths; /* by themselves, without saying why */
    int kills;  /* from outside while they were at it */
} worker_blame;

/* Counts a death. True: the request is to blame. Any may come from outside, where several in a row
 * hardly do; whoever is late is to blame at once. */
bool worker_blame_add(worker_blame *b, worker_death death);

typedef struct supervised {
    worker process;
    message_reader reader;
    outbox out;
    int64_t deadline_ns; /* of what it is doing; 0: it has nothing to do */
    int64_t busy_ns;     /* when it began what it is doing */
    trace *trace;        /* or NULL */
    uint32_t lane;       /* of the trace */
} supervised;

/* One without a process. */
supervised supervised_make(trace *t, trace_group group, const char *name);

/* A process has been started, which must say something within `limit_ns`. */
void supervised_begin(supervised *s, int64_t limit_ns);

/* It has `limit_ns` from now on for what it is doing. */
void supervised_expect(supervised *s, int64_t limit_ns);

/* Milliseconds until the deadline, at most an hour; -1: there is none. */
int supervised_left_ms(const supervised *s);
bool supervised_is_late(const supervised *s);

/* Adds its socket, for what it says and for what is not sent yet. */
void supervised_poll(const supervised *s, poll_set *set);

/* The trace shows what it did since busy_ns, and it begins something else. */
void supervised_show(supervised *s, const char *what, uint64_t count);

/* Takes a message without waiting. AT_NOT_FOUND: more has to come. Any other failure ends the
 * process, as *death says. */
at_status supervised_take(supervised *s, message *out, worker_death *death);

/* Ends the process, if there is one, and drops what had arrived. */
void supervised_stop(supervised *s);

/* The same after a death. A process that died by itself has
 * `grace_ms` to be gone. `how` receives how it ended, for people ("exited with status 3"). Returns
 * DEATH_KILLED where a death of its own was none. */
worker_death supervised_end(supervised *s, worker_death death, int grace_ms, char *how,
                            size_t how_bytes);

#endif
