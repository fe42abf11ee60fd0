/* One worker's socket, at either end of what MPI carries: what is read from it goes to the other rank,
 * what comes from there is written to it as it takes it. */
#ifndef AUTOTUNE_CLUSTER_CHANNEL_H
#define AUTOTUNE_CLUSTER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/process.h"

typedef struct channel {
    uint32_t rank;   /* the other end's */
    uint32_t number; /* that rank 0 gave it */
    worker worker;   /* the socket, and on the ranks above 0 the process */
    unsigned char *waiting; /* bytes that the socket has not taken yet; owned */
    size_t waiting_bytes, capacity_bytes;
    bool closing;    /* the other end is closed: this one is when nothing waits any more */
} channel;

typedef struct channel_table {
    channel *items; /* owned */
    size_t count;
} channel_table;

/* Adds a channel for a socket, which it takes. AT_NO_MEMORY. */
at_status channel_add(channel_table *t, uint32_t rank, uint32_t number, worker socket, at_error *error);

/* NULL: there is none. */
channel *channel_find(channel_table *t, uint32_t rank, uint32_t number);

/* Ends the worker, closes the socket, takes the channel out; others may move. */
void channel_remove(channel_table *t, channel *c);

/* Puts bytes behind those that wait for the socket. False when memory runs out. */
bool channel_put(channel *c, const void *bytes, size_t size_bytes);

/* Writes what the socket takes. False when its peer is gone, or everything is written and the channel
 * closing. */
bool channel_flush(channel *c);

void channel_table_deinit(channel_table *t);

#endif
