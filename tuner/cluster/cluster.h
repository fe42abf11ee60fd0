/* The other ranks of an MPI launch, as hosts on which workers can be started.
 *
 * The tuner knows no MPI. Beside it runs a relay (cluster/rank.c), the process that was launched: to it
 * the tuner hands one end of a socket pair for each worker that it wants elsewhere, and the relay carries
 * the bytes of the frames between that and the worker's own socket on its rank. A worker whose rank is
 * lost looks like one that was killed. */
#ifndef AUTOTUNE_CLUSTER_CLUSTER_H
#define AUTOTUNE_CLUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "process/process.h"

typedef struct cluster cluster;

/* Joins the relay that the environment names. *out is NULL where there is none. AT_WORKER when it does
 * not speak, AT_NO_MEMORY. */
at_status cluster_join(cluster **out, at_error *error);
void cluster_leave(cluster *c); /* NULL is fine */

/* 1 without a cluster. */
size_t cluster_ranks(const cluster *c);

/* Cores that a rank may use; 0 where that is not known. */
size_t cluster_cores(const cluster *c, size_t rank);

/* Where to start workers of a rank; NULL: here, which rank 0 is. The cluster's. */
const worker_host *cluster_host(const cluster *c, size_t rank);

/* Was this process started as one of several ranks, and is not yet behind a relay? */
bool cluster_launched(void);

/* Becomes the relay program beside this one, with the same arguments. Returns only when it cannot:
 * AT_USAGE says that there is none. */
at_status cluster_become_rank(char *const *argv, at_error *error);

#endif
