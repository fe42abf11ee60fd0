/* Kernel Launcher's wisdom, read: lines of JSON. history/history.c tells formats apart. */
#ifndef AUTOTUNE_HISTORY_WISDOM_H
#define AUTOTUNE_HISTORY_WISDOM_H

#include "history/recorded.h"

/* Does the text begin with a line of wisdom? */
bool recorded_wisdom_detect(const char *text, size_t size_bytes);

/* Of all devices and problems in it. AT_FORMAT naming the line, AT_NO_MEMORY. */
at_status recorded_wisdom_read(const char *text, size_t size_bytes, const char *path, recorded *out,
                               at_error *error);

#endif
