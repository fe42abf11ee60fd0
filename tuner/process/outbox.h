/* Messages on their way to a worker: a queue in the order of the answers to come, sent without ever
 * blocking.
 *
 * A worker that hangs does not read; a blocking write to it would hang the tuner with it. A message
 * stays in the queue until its answer takes it out, so that it can go to another worker if this one
 * dies. */
#ifndef AUTOTUNE_PROCESS_OUTBOX_H
#define AUTOTUNE_PROCESS_OUTBOX_H

#include <stdbool.h>

#include "base/queue.h"
#include "process/message.h"

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

#endif
