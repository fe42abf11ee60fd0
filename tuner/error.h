/* Errors are values.
 *
 * Every function that can fail returns an at_status and, when it fails, writes the story into the
 * at_error its caller passed: what happened, where (file and line, when an input file is to blame)
 * and what to do about it. The error owns its text, allocates nothing and may live on the stack.
 * The first failure wins: a function that fails because a callee failed returns the callee's status
 * and leaves the callee's message alone, or adds to it with error_prefix(). */
#ifndef AUTOTUNE_ERROR_H
#define AUTOTUNE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

typedef enum at_status {
    AT_OK = 0,
    AT_USAGE,        /* the command line is wrong */
    AT_SCRIPT,       /* a pattern script, expression or template is wrong */
    AT_FORMAT,       /* a file that should be JSON, PTX, a journal ... is not */
    AT_IO,           /* the operating system refused: a file, folder, socket */
    AT_NO_MEMORY,    /* host memory is exhausted */
    AT_NO_DEVICE,    /* no usable GPU or driver */
    AT_NO_TOOLCHAIN, /* no usable NVRTC or CUDA Toolkit */
    AT_COMPILE,      /* NVRTC rejected a source */
    AT_DEVICE,       /* the device reported an error; the context may be gone */
    AT_WORKER,       /* a worker process died, hung or spoke nonsense */
    AT_INTERRUPTED,  /* the user asked to stop */
    AT_NOT_FOUND,    /* a look-up found nothing */
    AT_INTERNAL      /* a bug in autotune */
} at_status;

typedef struct at_error {
    at_status status;
    int line;           /* 1-based line in `file`; 0 when no line is to blame */
    char file[512];     /* empty when no file is to blame */
    char message[3072]; /* one or more lines, no trailing newline */
} at_error;

/* Clears `error` to AT_OK. A zero-initialised at_error is clear already. */
void error_clear(at_error *error);

/* Writes a message and returns `status`, so that a failing function ends in `return error_set(...)`.
 * `error` may be NULL: the status still travels. */
at_status error_set(at_error *error, at_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, naming the file and the line (0: the whole file) that are to blame. */
at_status error_set_at(at_error *error, at_status status, const char *file, int line,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* As error_set for AT_IO, appending the text of the errno value `code`. */
at_status error_set_errno(at_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message that `error` already holds; returns its status. */
at_status error_prefix(at_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The status's name as journals and JSON output spell it ("script", "no_device"); never NULL. */
const char *status_name(at_status status);

#endif
