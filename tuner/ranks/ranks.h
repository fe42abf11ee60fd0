/* The other ranks of an MPI launch, as hosts on which workers can be started.
 *
 * The tuner does not use MPI. Beside it runs a relay (ranks/rank.c), the process that was
 * launched. For each worker on another rank the tuner sends it one end of a socket pair, and the
 * relay carries bytes between that and the worker's own socket. A worker whose rank is lost looks
 * like one that was killed. */
#ifndef AUTOTUNE_RANKS_RANKS_H
#define AUTOTUNE_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "process/process.h"

typedef struct rank_hosts rank_hosts;

/* Connects to the relay that the environment names. *out is NULL without one. AT_WORKER when it
 * does not answer, AT_NO_MEMORY. */
at_status ranks_join(rank_hosts **out, at_error *error);
void ranks_leave(rank_hosts *c); /* NULL is fine */

/* 1 for NULL. */
size_t ranks_count(const rank_hosts *c);

/* Cores that a rank may use; 0: not known. */
size_t ranks_cores(const rank_hosts *c, size_t rank);

/* The host on which workers of a rank start; NULL for rank 0, which is this host. Owned by
 * `c`. */
const worker_host *ranks_host(const rank_hosts *c, size_t rank);

/* Was this process started as one of several ranks, and has no relay yet? */
bool ranks_launched(void);

/* Executes the relay program that lies beside this one, with the same arguments. Returns only on
 * failure: AT_USAGE says that there is none. */
at_status ranks_become_one(char *const *argv, at_error *error);

#endif
