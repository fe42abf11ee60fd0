/* Worker processes: a fork, a socket pair, and a watch on both.
 *
 * The child runs `body` and leaves; it dies with its parent, ignores the terminal's signals (the
 * parent decides) and holds no descriptor but its own socket and the standard ones. */
#ifndef AUTOTUNE_PROCESS_PROCESS_H
#define AUTOTUNE_PROCESS_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/message.h"

typedef struct worker {
    pid_t pid; /* 0: not running */
    int fd;    /* the tuner's end; -1: closed */
} worker;

/* What the child runs with its end of the socket; its result is the exit status. */
typedef int (*worker_body)(int fd, void *context);

/* Starts a worker called `name` (as ps shows it, 15 characters at most). */
at_status worker_start(const char *name, worker_body body, void *context, worker *out,
                       at_error *error);

/* How a worker had ended. */
typedef enum worker_end {
    WORKER_NONE,    /* there was none, or it ran until it was stopped */
    WORKER_EXITED,  /* by itself */
    WORKER_FAULTED, /* by a signal that a program's own mistake raises: SIGSEGV, SIGABRT ... */
    WORKER_KILLED   /* by any other signal: somebody, or a system out of memory, ended it */
} worker_end;

/* Kills the worker if it runs, reaps it, closes the socket. `why` (may be NULL) receives how it had
 * ended: "exited with status 3", "killed by signal 11 (Segmentation fault)", "still running". */
worker_end worker_stop(worker *w, char *why, size_t why_size_bytes);

/* As worker_stop, for a worker whose socket has closed: gives it up to `grace_ms` to be gone, so
 * that `why` tells how it ended and not that it was still ending. */
worker_end worker_collect(worker *w, int grace_ms, char *why, size_t why_size_bytes);

#endif
