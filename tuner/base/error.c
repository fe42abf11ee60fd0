#include "base/error.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const char *const status_names[] = {
#define NAMED(status, name) [status] = name,
    ERROR_STATUSES(NAMED)
#undef NAMED
};

void error_clear(at_error *error)
{
    if (error)
        *error = (at_error){.status = AT_OK};
}

at_status error_ignore(at_status status, at_status expected, at_error *error)
{
    if (status != expected)
        return status;
    error_clear(error);
    return AT_OK;
}

static at_status set_va(at_error *error, at_status status, const char *file, int line,
                        const char *format, va_list args)
{
    if (!error)
        return status;
    error->status = status;
    error->line = line;
    char said[sizeof error->message];
    vsnprintf(said, sizeof said, format, args);
    plain_text_escape(said, error->message, sizeof error->message);
    snprintf(said, sizeof said, "%s", file ? file : "");
    plain_text_escape(said, error->file, sizeof error->file);
    return status;
}

at_status error_set(at_error *error, at_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_va(error, status, NULL, 0, format, args);
    va_end(args);
    return status;
}

at_status error_set_at(at_error *error, at_status status, const char *file, int line,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_va(error, status, file, line, format, args);
    va_end(args);
    return status;
}

at_status error_set_errno(at_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_va(error, AT_IO, NULL, 0, format, args);
    va_end(args);
    if (error) {
        size_t used = strlen(error->message);
        snprintf(error->message + used, sizeof error->message - used, ": %s", strerror(code));
    }
    return AT_IO;
}

at_status error_no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY, "out of memory");
}

at_status error_prefix(at_error *error, const char *format, ...)
{
    if (!error)
        return AT_INTERNAL;
    char said[sizeof error->message];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(said, sizeof said, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof said) {
        snprintf(said + used, sizeof said - (size_t)used, ": %s", error->message);
        plain_text_escape(said, error->message, sizeof error->message);
    }
    return error->status;
}

const char *status_name(at_status status)
{
    size_t count = sizeof status_names / sizeof *status_names;
    return (size_t)status < count ? status_names[status] : "unknown";
}
