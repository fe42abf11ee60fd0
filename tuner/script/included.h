/* The headers that a source is compiled with, as texts. */
#ifndef AUTOTUNE_SCRIPT_INCLUDED_H
#define AUTOTUNE_SCRIPT_INCLUDED_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

typedef struct included {
    source_header *headers; /* owned, with their names and texts, in the order found */
    size_t count;
} included;

/* Adds one; `text` is taken over, also after a failure. AT_NO_MEMORY. */
at_status included_add(included *to, const char *name, char *text, at_error *error);

/* AT_NO_MEMORY; the caller frees *out, also then. */
at_status included_copy(const included *from, included *out, at_error *error);

void included_deinit(included *i);

#endif
