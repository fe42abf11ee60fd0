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

#include "autotune.h" /* at_status and at_error, which callers of the library see too */

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
