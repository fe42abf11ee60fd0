/* Files of recorded measurements, plain or gzip. Kernel Tuner's caches and T4 results are read and
 * written; our own journals, runs and records and Kernel Launcher's wisdom are read only.
 *
 * The formats are a table in history/history.c. Files come from other people: what is missing or of
 * the wrong type is an error that names the file and the result. */
#ifndef AUTOTUNE_HISTORY_HISTORY_H
#define AUTOTUNE_HISTORY_HISTORY_H

#include "history/recorded.h"

/* Reads the file, of whichever format it is. On success *out owns its memory (recorded_deinit). A
 * configuration that occurs twice counts the first time. Errors: AT_NOT_FOUND, AT_IO, AT_FORMAT,
 * AT_NO_MEMORY. */
at_status recorded_read(const char *path, recorded *out, at_error *error);

/* Reads from text; `path` is for messages. */
at_status recorded_parse(const char *text, size_t size_bytes, const char *path, recorded *out,
                         at_error *error);

/* Writes `r` in the format called `format`: JSON text, which the caller frees. AT_USAGE for a
 * format that is unknown or only read; AT_NO_MEMORY. */
at_status recorded_write(const recorded *r, const char *format, char **out, at_error *error);

#endif
