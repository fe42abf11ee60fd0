/* A channel: one end, in a relay (ranks/rank.c), of the connection between the tuner and a worker.
 * Bytes that the relay reads from the socket go to the other rank; bytes from the other rank wait
 * until the socket takes them. */
#ifndef AUTOTUNE_RANKS_CHANNEL_H
#define AUTOTUNE_RANKS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/process.h"

typedef struct channel {
    uint32_t rank;          /* rank at the other end */
    uint32_t number;        /* assigned by rank 0 */
    worker worker;          /* the socket, and on ranks other than 0 also the process */
    unsigned char *waiting; /* bytes that the socket has not taken yet; owned */
    size_t waiting_bytes, capacity_bytes;
    bool closing; /* the other end is closed: close this end once `waiting` is empty */
} channel;

typedef struct channel_table {
    channel *items; /* owned */
    size_t count;
} channel_table;

/* Adds a channel, which takes over the socket. */
void channel_add(channel_table *t, uint32_t rank, uint32_t number, worker socket);

/* Returns NULL if the channel does not exist. */
channel *channel_find(channel_table *t, uint32_t rank, uint32_t number);

/* Ends the worker, closes the socket and removes the channel. Other channels may move. */
void channel_remove(channel_table *t, channel *c);

/* Appends bytes to `waiting`. */
void channel_put(channel *c, const void *bytes, size_t size_bytes);

/* Writes as many waiting bytes as the socket takes without blocking. Returns false if the channel
 * has ended: its peer is gone, or it is closing and all bytes are written. */
bool channel_flush(channel *c);

void channel_table_deinit(channel_table *t);

#endif
