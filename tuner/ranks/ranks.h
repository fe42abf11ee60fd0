/* The other ranks of an MPI launch, as hosts on which workers can be started.
 *
 * The tuner does not use MPI. The launched process is a relay (ranks/rank.c), which runs beside the
 * tuner. For each worker on another rank the tuner sends one end of a socket pair to the relay. The
 * relay forwards bytes between this socket and the socket of the worker. A worker on a lost rank
 * looks like a killed worker. */
#ifndef AUTOTUNE_RANKS_RANKS_H
#define AUTOTUNE_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "process/process.h"

typedef struct rank_hosts rank_hosts;

/* Connects to the relay that the environment names. *out is NULL without a relay. Returns AT_WORKER
 * if the relay does not answer, AT_NO_MEMORY. */
at_status ranks_join(rank_hosts **out, at_error *error);
void ranks_leave(rank_hosts *c); /* `c` may be NULL */

/* Returns the number of ranks, or 1 if `c` is NULL. */
size_t ranks_count(const rank_hosts *c);

/* Returns the number of cores that a rank may use, or 0 if it is unknown. */
size_t ranks_cores(const rank_hosts *c, size_t rank);

/* Returns the host on which workers of `rank` are started, owned by `c`. Returns NULL, which stands
 * for this host, for rank 0. */
const worker_host *ranks_host(const rank_hosts *c, size_t rank);

/* Returns true if this process was started as one of several ranks and has no relay yet. */
bool ranks_launched(void);

/* Replaces this process by the relay program, which is in the same folder, with the same arguments.
 * Returns only if that fails: AT_USAGE. */
at_status ranks_become_one(char *const *argv, at_error *error);

/* ---- messages between tuner and relay, of the same build, over a SOCK_SEQPACKET socket ---- */

enum { CLUSTER_MOST_RANKS = 256, CLUSTER_NAME_BYTES = 16 };

/* The environment variable that gives the tuner the descriptor of the socket. */
#define CLUSTER_VARIABLE "AUTOTUNE_CLUSTER"

/* The only message from the relay to the tuner. */
typedef struct ranks_hello {
    uint32_t ranks;                     /* number of ranks, including rank 0 */
    uint32_t cores[CLUSTER_MOST_RANKS]; /* cores that each rank may use */
} ranks_hello;

/* The tuner's request to start a worker. The relay connects the attached socket to the worker. */
typedef struct ranks_open {
    uint32_t rank;
    char program[CLUSTER_NAME_BYTES]; /* worker_program.name */
} ranks_open;

#endif
