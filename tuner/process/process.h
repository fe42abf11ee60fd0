/* Worker processes: this program executed again, with a socket to the process that started it.
 * poll_set waits for the sockets of all workers at once.
 *
 * A worker shares only the environment, the standard descriptors and the socket with its parent, so
 * a process with threads may start it. It dies with its parent. It ignores the signals of
 * interrupt.h except SIGTERM, because the parent decides. main() first calls worker_enter() with
 * its workers' programs. */
#ifndef AUTOTUNE_PROCESS_PROCESS_H
#define AUTOTUNE_PROCESS_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/pack.h"

enum { WORKER_ELSEWHERE = -1 };

typedef struct worker {
    pid_t pid; /* 0 if not running; WORKER_ELSEWHERE if on another host */
    int fd;    /* the tuner's end of the socket; -1 if closed */
} worker;

/* The main function of a worker: gets its socket and settings, returns the exit status. */
typedef int (*worker_body)(int fd, pack *settings);

typedef struct worker_program {
    const char *name; /* name in the output of ps, at most 15 characters */
    worker_body run;
} worker_program;

/* A host on which workers can run instead of this host. */
typedef struct worker_host {
    /* Starts a worker and gives the tuner's end of its socket. The settings are not sent yet. */
    at_status (*start)(void *context, const char *program, worker *out, at_error *error);
    void *context;
} worker_host;

/* Starts a worker on `host`, or on this host if `host` is NULL, and sends the settings, which are
 * borrowed. Returns AT_IO if no process can be started, AT_NO_MEMORY. */
at_status worker_start(const worker_host *host, const worker_program *program, const pack *settings,
                       worker *out, at_error *error);

/* Starts the worker called `name` of the program at `path`. The caller sends the settings. */
at_status worker_spawn(const char *path, const char *name, worker *out, at_error *error);

/* Runs the worker and does not return if worker_start() started this process; otherwise does
 * nothing. `programs` ends with NULL. */
void worker_enter(int argc, char *const *argv, const worker_program *const *programs);

typedef enum worker_end {
    WORKER_NONE,    /* there was no worker, or it was running when it was stopped */
    WORKER_EXITED,  /* the worker called exit() */
    WORKER_FAULTED, /* a signal for the worker's own mistake: SIGSEGV, SIGABRT ... */
    WORKER_KILLED   /* another signal: a person or the out-of-memory killer ended it */
} worker_end;

/* Kills the worker if it runs, reaps it, and closes the socket. `why` (may be NULL) receives the
 * end: "exited with status 3", "killed by signal 11 (Segmentation fault)", "still running". */
worker_end worker_stop(worker *w, char *why, size_t why_size_bytes);

/* Kills the worker without waiting. A driver takes a tenth of a second to end, so kill several
 * workers first and then call worker_stop() for each. */
void worker_kill(const worker *w);

/* Like worker_stop(), for a worker whose socket has closed. Waits up to `grace_ms` for its end, so
 * that `why` is not "still running". */
worker_end worker_collect(worker *w, int grace_ms, char *why, size_t why_size_bytes);

/* The most sockets of a poll_set: one compile worker per core and two device workers fit. */
enum { POLL_SET_MOST = 1100 };

/* The sockets and the time-out of one call of poll(). Every module with workers adds its sockets
 * and its deadline; the event loop then waits once for all of them. */
typedef struct poll_set {
    struct pollfd fds[POLL_SET_MOST];
    size_t count;
    int timeout_ms; /* < 0: unlimited */
} poll_set;

/* Empties the set and sets the longest wait; `timeout_ms` < 0 means unlimited. */
void poll_set_start(poll_set *s, int timeout_ms);

/* Adds `fd`: poll_set_wait() waits for its input and, if `unsent`, for room to write. Ignores fd
 * -1. If the set is full, leaves `fd` out and makes the wait short instead. */
void poll_set_add(poll_set *s, int fd, bool unsent);

/* Limits the wait to `deadline_ms` from now; < 0 means no limit. */
void poll_set_shorten(poll_set *s, int deadline_ms);

/* Waits. Returns the number of ready sockets, or -1 if a signal came. */
int poll_set_wait(poll_set *s);

#endif
