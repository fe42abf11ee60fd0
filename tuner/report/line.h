/* A line of text that grows piece by piece, up to a fixed size. */
#ifndef AUTOTUNE_REPORT_LINE_H
#define AUTOTUNE_REPORT_LINE_H

#include <stddef.h>

/* {.used = 0} is an empty line. */
typedef struct line {
    char text[1024];
    size_t used; /* without the NUL */
} line;

/* Appends what printf would print; what does not fit is cut. */
void line_add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
