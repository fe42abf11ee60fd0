/* What a tuner and the relay beside it say to each other, over a socket of packets that they share:
 * both are of one build, on one host. */
#ifndef AUTOTUNE_CLUSTER_WIRE_H
#define AUTOTUNE_CLUSTER_WIRE_H

#include <stdint.h>

enum { CLUSTER_MOST_RANKS = 256, CLUSTER_NAME_BYTES = 16 };

/* Names the socket's number to the tuner. */
#define CLUSTER_VARIABLE "AUTOTUNE_CLUSTER"

/* The relay's first and only word. */
typedef struct cluster_hello {
    uint32_t ranks;                     /* this one, which is 0, included */
    uint32_t cores[CLUSTER_MOST_RANKS]; /* that each may use */
} cluster_hello;

/* A worker is wanted; a socket comes with it, on which the worker then is. */
typedef struct cluster_open {
    uint32_t rank;
    char program[CLUSTER_NAME_BYTES]; /* worker_program.name */
} cluster_open;

#endif
