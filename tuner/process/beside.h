/* Runs a program beside this process, for libraries. The host process must not notice the program.
 *
 * The program is not a child of this process: wait() does not return it and no SIGCHLD comes. It
 * has a session of its own (the keys of a terminal do not reach it), the lowest priority, none of
 * this process's descriptors, and /dev/null as its output. It gets SIGTERM after beside_stop() or
 * any end of this process, and SIGALRM after its time limit.
 *
 * Implementation: this process clones a second one that shares its memory and sends no signal when
 * it ends. The clone starts the program and ends. The program's standard input is a pipe without a
 * writer; the kernel sends SIGTERM when the other end closes. */
#ifndef AUTOTUNE_PROCESS_BESIDE_H
#define AUTOTUNE_PROCESS_BESIDE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

enum { BESIDE_OUTPUT_BYTES = 2048 };

typedef struct beside {
    int life; /* this process's end of the program's standard input; -1 if closed */
    int said; /* this process's end of the program's standard error; -1 if closed */
    pid_t pid;
    char text[BESIDE_OUTPUT_BYTES]; /* last part of the program's standard error */
    size_t text_bytes;
} beside;

/* Starts the program at `path` with the NULL-terminated `arguments` (argv[0] first). Its
 * environment lacks the variables named in `without`, which ends with NULL. SIGALRM ends the
 * program after `limit_s` seconds. Returns AT_NOT_FOUND without a program at `path`, AT_IO if no
 * process can be started. The caller calls beside_stop(). */
at_status beside_start(const char *path, const char *const *arguments, const char *const *without,
                       unsigned limit_s, beside *out, at_error *error);

/* Returns true if the program has ended. Never blocks. Reads new output into b->text. */
bool beside_ended(beside *b);

/* Sends SIGTERM to the program if it runs, and closes the descriptors. Does not wait. */
void beside_stop(beside *b);

#endif
