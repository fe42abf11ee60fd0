#include "script/included.h"

#include <stdlib.h>
#include <string.h>

at_status included_add(included *to, const char *name, char *text, at_error *error)
{
    if (!to->headers)
        to->headers = calloc(SOURCE_HEADERS_MAX, sizeof *to->headers);
    char *kept = strdup(name);
    if (!to->headers || !kept || !text || to->count == SOURCE_HEADERS_MAX) {
        free(kept);
        free(text);
        return error_no_memory(error);
    }
    to->headers[to->count++] = (source_header){.name = kept, .text = text};
    return AT_OK;
}

at_status included_copy(const included *from, included *out, at_error *error)
{
    at_status status = AT_OK;
    *out = (included){0};
    for (size_t i = 0; !status && i < from->count; i++)
        status = included_add(out, from->headers[i].name, strdup(from->headers[i].text), error);
    return status;
}

/* The list owns what it shows as const. */
static void free_text(const char *text)
{
    void *owned;
    memcpy(&owned, &text, sizeof owned);
    free(owned);
}

void included_deinit(included *i)
{
    for (size_t n = 0; n < i->count; n++) {
        free_text(i->headers[n].name);
        free_text(i->headers[n].text);
    }
    free(i->headers);
    *i = (included){0};
}
