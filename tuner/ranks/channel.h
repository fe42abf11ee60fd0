/* A relay's end of one worker's connection: what it reads from the socket goes to the other rank;
 * what comes from there waits until the socket takes it. */
#ifndef AUTOTUNE_RANKS_CHANNEL_H
#define AUTOTUNE_RANKS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/process.h"

typedef struct channel {
    uint32_t rank;          /* of the other end */
    uint32_t number;        /* given by rank 0 */
    worker worker;          /* the socket, and on the ranks above 0 the process */
    unsigned char *waiting; /* bytes that the socket has not taken yet; owned */
    size_t waiting_bytes, capacity_bytes;
    bool closing; /* the other end is closed: this one closes once nothing waits */
} channel;

typedef struct channel_table {
    channel *items; /* owned */
    size_t count;
} channel_table;

/* Adds a channel, which owns the socket from then on. */
void channel_add(channel_table *t, uint32_t rank, uint32_t number, worker socket);

/* NULL: there is none. */
channel *channel_find(channel_table *t, uint32_t rank, uint32_t number);

/* Ends the worker, closes the socket, removes the channel; other channels may move. */
void channel_remove(channel_table *t, channel *c);

/* Appends bytes to those that wait for the socket. */
void channel_put(channel *c, const void *bytes, size_t size_bytes);

/* Writes what the socket takes. False when the channel is done: its peer is gone, or it is closing
 * and everything is written. */
bool channel_flush(channel *c);

void channel_table_deinit(channel_table *t);

#endif
