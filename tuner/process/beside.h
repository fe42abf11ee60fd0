/* A program that runs beside this process, for libraries: the process that it belongs to does not
 * notice it.
 *
 * It is no child of this process, so that wait() does not return it and no SIGCHLD comes, whatever
 * the process does about those. It has a session of its own (keys of a terminal do not reach it),
 * the lowest priority, none of this process's descriptors, and /dev/null as its output. It gets
 * SIGTERM when beside_stop() is called or the process ends, in whatever way, and SIGALRM after its
 * limit.
 *
 * How: the process clones one that shares its memory and sends no signal at its end, that one
 * starts the program and ends. The program's standard input is a pipe that nothing is written to:
 * the kernel sends SIGTERM when its other end is closed. */
#ifndef AUTOTUNE_PROCESS_BESIDE_H
#define AUTOTUNE_PROCESS_BESIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { BESIDE_SAID_BYTES = 2048 };

typedef struct beside {
    int life; /* the end of its input; -1: closed */
    int said; /* its standard error; -1: it has ended */
    pid_t pid;
    char text[BESIDE_SAID_BYTES]; /* the end of what it said */
    size_t text_bytes;
} beside;

/* Starts the program at `path`, without the variables of `without` (ends with NULL) in its
 * environment. AT_NOT_FOUND where there is no such program, AT_IO where there can be no process.
 * beside_stop() ends it. */
at_status beside_start(const char *path, const char *const *arguments, const char *const *without,
                       unsigned limit_s, beside *out, at_error *error);

/* Has it ended? Never blocks; takes what it says meanwhile. */
bool beside_ended(beside *b);

/* Asks it to end, if it runs, and forgets it. It may go on for a moment. */
void beside_stop(beside *b);

#endif
