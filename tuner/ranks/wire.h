/* The messages between a tuner and the relay beside it, over a socket that keeps packets apart.
 * Both are of one build, on one host. */
#ifndef AUTOTUNE_RANKS_WIRE_H
#define AUTOTUNE_RANKS_WIRE_H

#include <stdint.h>

enum { CLUSTER_MOST_RANKS = 256, CLUSTER_NAME_BYTES = 16 };

/* The environment variable with the socket's descriptor, for the tuner. */
#define CLUSTER_VARIABLE "AUTOTUNE_CLUSTER"

/* The relay's only message. */
typedef struct ranks_hello {
    uint32_t ranks;                     /* this one, which is 0, included */
    uint32_t cores[CLUSTER_MOST_RANKS]; /* that each may use */
} ranks_hello;

/* The tuner's request to start a worker. A socket comes with it, to which the relay connects the
 * worker. */
typedef struct ranks_open {
    uint32_t rank;
    char program[CLUSTER_NAME_BYTES]; /* worker_program.name */
} ranks_open;

#endif
