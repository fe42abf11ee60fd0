/* Errors are values. A function that can fail returns an at_status. On failure it fills in the
 * at_error of its caller: what happened, where (file and line of a faulty input file), and what to
 * do. An at_error owns its text, allocates nothing and may live on the stack. A function whose
 * callee failed returns the callee's status and keeps its message, or adds to it with
 * error_prefix(). */
#ifndef AUTOTUNE_BASE_ERROR_H
#define AUTOTUNE_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

/* Calls X(status, name) for each status. The name appears in journals and in JSON output. */
#define ERROR_STATUSES(X)                                                                          \
    X(AT_OK, "ok")                                                                                 \
    X(AT_USAGE, "usage")               /* wrong command line or argument */                        \
    X(AT_SCRIPT, "script")             /* wrong pattern script, expression or template */          \
    X(AT_FORMAT, "format")             /* malformed JSON, PTX, journal ... */                      \
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

/* The public header has the same definitions; library/library.c asserts that both agree. */
#ifndef AT_STATUS_DEFINED
#define AT_STATUS_DEFINED
typedef enum at_status {
#define ERROR_ENUMERATOR(status, name) status,
    ERROR_STATUSES(ERROR_ENUMERATOR)
#undef ERROR_ENUMERATOR
} at_status;

typedef struct at_error {
    at_status status;
    int line;                          /* line in `file`, from 1; 0 if unknown */
    char file[ERROR_FILE_BYTES];       /* faulty input file, or empty */
    char message[ERROR_MESSAGE_BYTES]; /* one or more lines, without a trailing newline */
} at_error;
#endif

/* Clears `error` to AT_OK; it may be NULL. A zeroed at_error is clear. */
void error_clear(at_error *error);

/* Returns AT_OK and clears the error if `status` is `expected`, which is no failure for the caller.
 * Otherwise returns `status`. */
at_status error_ignore(at_status status, at_status expected, at_error *error);

/* Sets status and message (`error` may be NULL). Returns `status`, for `return error_set(...)`. */
at_status error_set(at_error *error, at_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like error_set(), for a faulty input file. `line` is 0 if the whole file is meant. */
at_status error_set_at(at_error *error, at_status status, const char *file, int line,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets AT_IO and a message that ends in the text of the errno value `code`. */
at_status error_set_errno(at_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets AT_NO_MEMORY with the common message. Callers with a remedy write their own message. */
at_status error_no_memory(at_error *error);

/* Puts "prefix: " before the message of `error` and returns its status. */
at_status error_prefix(at_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the name of a status in journals and JSON output ("script"), or "unknown". */
const char *status_name(at_status status);

#endif
