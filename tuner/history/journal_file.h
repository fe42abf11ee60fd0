/* Reading our own journals as recorded measurements; for history/history.c alone. */
#ifndef AUTOTUNE_HISTORY_JOURNAL_FILE_H
#define AUTOTUNE_HISTORY_JOURNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "history/recorded.h"

/* Is the first line of the text a line of a journal? */
bool recorded_journal_detect(const char *text, size_t size_bytes);

/* Reads the journal. AT_NO_MEMORY. */
at_status recorded_journal_read(const char *text, size_t size_bytes, recorded *out,
                                at_error *error);

#endif
