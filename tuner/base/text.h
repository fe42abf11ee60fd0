/* Texts of limited room that grow piece by piece. */
#ifndef AUTOTUNE_BASE_TEXT_H
#define AUTOTUNE_BASE_TEXT_H

#include <stddef.h>

/* Appends what printf would print to a text in an array of `size_bytes`; what does not fit is
 * cut. */
void text_add(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Line `index` of a text, without its end: a view of *length bytes; the lines that a text lacks are
 * empty. */
const char *text_line(const char *text, size_t index, size_t *length);

#endif
