/* Files of recorded measurements, read and written: Kernel Tuner's cache, T4 results, our own
 * journal; Kernel Launcher's wisdom, read only; plain or gzip.
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

/* Writes `r` in the format called `format`: JSON text, which the caller frees. AT_USAGE for an
 * unknown format. */
at_status recorded_write(const recorded *r, const char *format, char **out, at_error *error);

#endif
