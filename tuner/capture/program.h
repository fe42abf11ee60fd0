/* Runs a program of the user's with the library that writes down what it launches. */
#ifndef AUTOTUNE_CAPTURE_PROGRAM_H
#define AUTOTUNE_CAPTURE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct program_request {
    char *const *arguments; /* of the program, its name first; ends with NULL */
    const char *dir;        /* an absolute path: the program may change its folder */
    const char *kernel;     /* part of the name of the kernels to capture; NULL: none */
    uint64_t nth, shapes, limit_bytes;
    bool timed;
    const char *cupti;     /* path of CUPTI's library; NULL: the program's loader finds it */
    bool output_to_stderr; /* what it writes to stdout */
} program_request;

/* Waits for its end, *ended as waitpid() tells it; interrupts of the terminal are the program's to
 * obey. AT_NOT_FOUND: there is no such program, or no library; AT_IO. */
at_status program_run(const program_request *what, int *ended, at_error *error);

#endif
