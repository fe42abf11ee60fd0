/* Errors are values.
 *
 * Every function that can fail returns an at_status and, when it fails, writes what went wrong into
 * the at_error its caller passed: what happened, where (file and line, when an input file is to
 * blame) and what to do about it. The error owns its text, allocates nothing and may live on the
 * stack. The first failure wins: a function that fails because a callee failed returns the callee's
 * status and leaves the callee's message alone, or adds to it with error_prefix(). */
#ifndef AUTOTUNE_BASE_ERROR_H
#define AUTOTUNE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* Calls X(status, name) for each status, with its name in journals and JSON output. */
#define ERROR_STATUSES(X)                                                                          \
    X(AT_OK, "ok")                                                                                 \
    X(AT_USAGE, "usage")               /* wrong command line or argument */                        \
    X(AT_SCRIPT, "script")             /* wrong pattern script, expression or template */          \
    X(AT_FORMAT, "format")             /* a file that is not valid JSON, PTX, journal ... */       \
    X(AT_IO, "io")                     /* a file, folder or socket cannot be opened or used */     \
    X(AT_NO_MEMORY, "no_memory")       /* host memory is exhausted */                              \
    X(AT_NO_DEVICE, "no_device")       /* no usable GPU or driver */                               \
    X(AT_NO_TOOLCHAIN, "no_toolchain") /* no usable NVRTC or CUDA Toolkit */                       \
    X(AT_COMPILE, "compile")           /* NVRTC rejected a source */                               \
    X(AT_DEVICE, "device")             /* device error; the context may be lost */                 \
    X(AT_WORKER, "worker")             /* a worker died, hung or sent a malformed message */       \
    X(AT_INTERRUPTED, "interrupted")   /* the user asked to stop */                                \
    X(AT_NOT_FOUND, "not_found")       /* a look-up found nothing */                               \
    X(AT_INTERNAL, "internal")         /* a bug in autotune */

enum { ERROR_FILE_BYTES = 512, ERROR_MESSAGE_BYTES = 3072 };

#ifndef AT_STATUS_DEFINED /* by the public header: library/library.c asserts that both agree */
#define AT_STATUS_DEFINED
typedef enum at_status {
#define ERROR_ENUMERATOR(status, name) status,
    ERROR_STATUSES(ERROR_ENUMERATOR)
#undef ERROR_ENUMERATOR
} at_status;

typedef struct at_error {
    at_status status;
    int line;                          /* 1-based line in `file`, or 0 if unknown */
    char file[ERROR_FILE_BYTES];       /* file with the error, or empty */
    char message[ERROR_MESSAGE_BYTES]; /* one or more lines, without a trailing newline */
} at_error;
#endif

/* Clears `error` to AT_OK. A zero-initialised at_error is clear already. */
void error_clear(at_error *error);

/* Returns AT_OK, and clears the error, if `status` is `expected`, which is no failure here; else
 * `status`. */
at_status error_forgive(at_status status, at_status expected, at_error *error);

/* Writes a message and returns `status`, so that a failing function ends in `return
 * error_set(...)`. `error` may be NULL: the status still travels. */
at_status error_set(at_error *error, at_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like error_set, naming the file and the line (0: the whole file) that are to blame. */
at_status error_set_at(at_error *error, at_status status, const char *file, int line,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Like error_set for AT_IO, appending the text of the errno value `code`. */
at_status error_set_errno(at_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* AT_NO_MEMORY, in the words of all. A message of its own is for what the user can remedy. */
at_status error_no_memory(at_error *error);

/* Puts "prefix: " before the message that `error` already holds; returns its status. */
at_status error_prefix(at_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The status's name as journals and JSON output spell it ("script", "no_device"); never NULL. */
const char *status_name(at_status status);

#endif
