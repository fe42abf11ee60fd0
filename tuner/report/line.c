#include "report/line.h"

#include <stdarg.h>
#include <stdio.h>

void line_add(line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof l->text - l->used;
    int n = vsnprintf(l->text + l->used, room, format, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n < room ? (size_t)n : room - 1;
}
