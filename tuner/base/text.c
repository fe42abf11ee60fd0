#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add(char *text, size_t size_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size_bytes - used, format, args);
    va_end(args);
}

const char *text_line(const char *text, size_t index, size_t *length)
{
    for (; index > 0 && *text; index--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *length = strcspn(text, "\n");
    return text;
}
