/* Reads Kernel Launcher's wisdom: lines of JSON. For history/history.c alone. */
#ifndef AUTOTUNE_HISTORY_WISDOM_H
#define AUTOTUNE_HISTORY_WISDOM_H

#include "history/recorded.h"

/* Does the text begin with a line of wisdom? */
bool recorded_wisdom_detect(const char *text, size_t size_bytes);

/* Reads the results of all its devices and problems. AT_FORMAT naming the line, AT_NO_MEMORY. */
at_status recorded_wisdom_read(const char *text, size_t size_bytes, const char *path, recorded *out,
                               at_error *error);

#endif
