/* A worker that may die, hang or send nonsense: its unsent requests, its partly read reply, its
 * deadline and its end.
 *
 * The owner starts the process (worker_start), sets deadlines (supervised_expect) and ends the
 * process (supervised_end); the same struct can then hold a new process. worker_blame decides when
 * a request is to blame for the deaths of several workers. */
#ifndef AUTOTUNE_PROCESS_SUPERVISED_H
#define AUTOTUNE_PROCESS_SUPERVISED_H

#include <stdbool.h>

#include "base/array.h"
#include "process/message.h"
#include "process/process.h"

/* ---- outbox: messages that wait to be sent ----
 *
 * A queue in the order of the expected answers. Sending never blocks: a worker that hangs does not
 * read, and would hang the tuner too. A message stays in the queue until its answer arrives, so
 * that it can be sent to another worker if this one dies. */

/* The first member of every struct that waits for an answer. */
typedef struct outgoing {
    queue_item item;
    message message; /* owned by the owner of the item */
    /* Makes the body of the message just before it is sent; the body is freed after that. NULL if
     * the message has its body already. */
    void (*fill)(struct outgoing *o);
} outgoing;

/* Empty if zeroed. Items before `unsent` are fully sent, items after it have not begun. */
typedef struct outbox {
    queue waiting;     /* of type outgoing */
    outgoing *unsent;  /* first item that is not fully sent; NULL if all are */
    size_t sent_bytes; /* bytes of the frame of `unsent` */
    unsigned char header[MESSAGE_HEADER_BYTES]; /* header of that frame; valid if sent_bytes > 0 */
} outbox;

/* Appends an item, which must outlive its place in the queue. */
void outbox_push(outbox *b, void *item);

/* Removes and returns the oldest item, or returns NULL if the outbox is empty. */
void *outbox_pop(outbox *b);

/* Returns true if the oldest item is fully sent, so that the worker may be working on it. */
bool outbox_started(const outbox *b);

/* Sends as much as the socket takes without blocking. Returns AT_WORKER if the peer is gone. */
at_status outbox_send(outbox *b, int fd, at_error *error);

/* ---- a supervised worker ---- */

/* The reason for the end of a worker. */
typedef enum worker_death {
    DEATH_EXITED,  /* exited or faulted */
    DEATH_KILLED,  /* killed from outside: by a person or for lack of memory */
    DEATH_TIMEOUT, /* exceeded its deadline */
    DEATH_INVALID  /* sent an invalid message */
} worker_death;

/* Counts the workers that died on one request. */
typedef struct worker_blame {
    int deaths; /* workers that exited or faulted */
    int kills;  /* workers that were killed from outside */
} worker_blame;

/* Counts a death. Returns true if the request is to blame: for the third DEATH_EXITED, for the
 * eighth DEATH_KILLED (so many kills hardly come by chance), and at once for DEATH_TIMEOUT. */
bool worker_blame_add(worker_blame *b, worker_death death);

typedef struct supervised {
    worker process;
    message_reader reader;
    outbox out;
    int64_t deadline_ns; /* deadline of the current job; 0 if the worker is idle */
} supervised;

/* Returns a supervised worker without a process. */
supervised supervised_make(void);

/* Call it after starting a process, which must send its first message within `limit_ns`. */
void supervised_begin(supervised *s, int64_t limit_ns);

/* Sets the deadline to `limit_ns` from now. */
void supervised_expect(supervised *s, int64_t limit_ns);

/* Returns the milliseconds until the deadline, at most an hour, or -1 if there is no deadline. */
int supervised_left_ms(const supervised *s);
bool supervised_is_late(const supervised *s);

/* Adds the socket, for output too if messages are unsent. Limits the wait to the deadline. */
void supervised_poll(const supervised *s, poll_set *set);

/* Reads a message without blocking. Returns AT_NOT_FOUND if it is still incomplete. On any other
 * failure the caller must end the process, for the reason *death. */
at_status supervised_take(supervised *s, message *out, worker_death *death);

/* Ends the process, if any, and drops a partly read message. */
void supervised_stop(supervised *s);

/* Ends the process after a death; a process that died by itself has `grace_ms` to end. `how`
 * receives a description, such as "exited with status 3". Returns `death`, or DEATH_KILLED if a
 * process with DEATH_EXITED was killed from outside. */
worker_death supervised_end(supervised *s, worker_death death, int grace_ms, char *how,
                            size_t how_bytes);

#endif
