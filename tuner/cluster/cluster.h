/* The other ranks of an MPI launch, as hosts on which workers can be started.
 *
 * The tuner does not use MPI. Beside it runs a relay (cluster/rank.c), the process that was
 * launched. For each worker on another rank the tuner sends it one end of a socket pair, and the
 * relay carries bytes between that and the worker's own socket. A worker whose rank is lost looks
 * like one that was killed. */
#ifndef AUTOTUNE_CLUSTER_CLUSTER_H
#define AUTOTUNE_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "process/process.h"

typedef struct cluster cluster;

/* Connects to the relay that the environment names. *out is NULL without one. AT_WORKER when it
 * does not answer, AT_NO_MEMORY. */
at_status cluster_join(cluster **out, at_error *error);
void cluster_leave(cluster *c); /* NULL is fine */

/* 1 without a cluster. */
size_t cluster_ranks(const cluster *c);

/* Cores that a rank may use; 0: not known. */
size_t cluster_cores(const cluster *c, size_t rank);

/* The host on which workers of a rank start; NULL for rank 0, which is this host. Owned by the
 * cluster. */
const worker_host *cluster_host(const cluster *c, size_t rank);

/* Was this process started as one of several ranks, and has no relay yet? */
bool cluster_launched(void);

/* Executes the relay program that lies beside this one, with the same arguments. Returns only on
 * failure: AT_USAGE says that there is none. */
at_status cluster_become_rank(char *const *argv, at_error *error);

#endif
