/* Reading our own journals as recorded measurements; for recorded.c alone. */
#ifndef AUTOTUNE_RECORDED_JOURNAL_H
#define AUTOTUNE_RECORDED_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "recorded.h"

/* Is the first line of the text a line of a journal? */
bool recorded_journal_detect(const char *text, size_t size_bytes);

/* Reads the journal. AT_NO_MEMORY. */
at_status recorded_journal_read(const char *text, size_t size_bytes, recorded *out,
                                at_error *error);

#endif
