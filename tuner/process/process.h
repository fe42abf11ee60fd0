/* Worker processes: this program executed anew, with a socket to the process that started it.
 *
 * A worker shares with that process only the environment, the standard descriptors and the socket,
 * so it may be started while threads run. It dies with its parent and ignores what interrupts it
 * (interrupt.h; the parent decides), but for SIGTERM. main() calls worker_enter() first, with the
 * programs of its workers. */
#ifndef AUTOTUNE_PROCESS_PROCESS_H
#define AUTOTUNE_PROCESS_PROCESS_H

#include <sys/types.h>

#include "base/error.h"
#include "base/pack.h"

enum { WORKER_ELSEWHERE = -1 };

typedef struct worker {
    pid_t pid; /* 0: not running; WORKER_ELSEWHERE: on another host */
    int fd;    /* the tuner's end; -1: closed */
} worker;

/* The body of a worker, which gets its end of the socket and the settings that it was started with.
 * Its result is the exit status. */
typedef int (*worker_body)(int fd, pack *settings);

typedef struct worker_program {
    const char *name; /* as ps shows it, 15 characters at most */
    worker_body run;
} worker_program;

/* A host where workers run instead of here. */
typedef struct worker_host {
    /* Gives the tuner's end of a worker of this program, which has had no settings yet. */
    at_status (*start)(void *context, const char *program, worker *out, at_error *error);
    void *context;
} worker_host;

/* Starts a worker on a host; NULL: here. `settings` is borrowed. AT_IO where there can be no
 * process, AT_NO_MEMORY. */
at_status worker_start(const worker_host *host, const worker_program *program, const pack *settings,
                       worker *out, at_error *error);

/* Starts the worker called `name` of the program at `path`; whoever has its socket sends the
 * settings. */
at_status worker_spawn(const char *path, const char *name, worker *out, at_error *error);

/* Runs one of these programs, and never returns, in a process that worker_start() made for it;
 * elsewhere it does nothing. `programs` ends with NULL. */
void worker_enter(int argc, char *const *argv, const worker_program *const *programs);

/* How a worker had ended. */
typedef enum worker_end {
    WORKER_NONE,    /* there was none, or it ran until it was stopped */
    WORKER_EXITED,  /* by itself */
    WORKER_FAULTED, /* by a signal that a program's own mistake raises: SIGSEGV, SIGABRT ... */
    WORKER_KILLED   /* by any other signal: a person, or a system out of memory, ended it */
} worker_end;

/* Kills the worker if it runs, reaps it, closes the socket. `why` (may be NULL) receives how it had
 * ended: "exited with status 3", "killed by signal 11 (Segmentation fault)", "still running". */
worker_end worker_stop(worker *w, char *why, size_t why_size_bytes);

/* Kills the worker without waiting for its end, which takes a driver a tenth of a second: of
 * several, those of all overlap. worker_stop follows. */
void worker_kill(const worker *w);

/* Like worker_stop, for a worker whose socket has closed: gives it up to `grace_ms` to be gone, so
 * that `why` tells how it ended and not that it was still ending. */
worker_end worker_collect(worker *w, int grace_ms, char *why, size_t why_size_bytes);

#endif
