/* Texts of limited room that grow piece by piece. */
#ifndef AUTOTUNE_BASE_TEXT_H
#define AUTOTUNE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- plain text ----
 *
 * Text of others, made safe for a terminal.
 *
 * Names, messages and records come from anyone, and a terminal obeys control characters in them.
 * They are written as JSON would write them (\u001b), so that text within JSON stays JSON; newline
 * and tab stay, and so does all other UTF-8. Bytes that are not UTF-8 become \ufffd. */

/* Writes what fits, with a NUL; a character that does not fit whole is left out with all after
 * it. */
void plain_text_escape(const char *text, char *out, size_t out_bytes);

/* Whether it is UTF-8 without control characters, newline and tab included. */
bool plain_text_is_line(const char *text, size_t size_bytes);

/* A stream to `fd` through which text goes so; `ink` lets the program's own colours pass
 * (PLAIN_TEXT_INKS). Buffered by lines for a terminal, else by blocks, or not at all. The
 * descriptor is the caller's. NULL without memory. */
FILE *plain_text_stream(int fd, bool ink, bool buffered);

/* The colours that the program itself uses, and no other order to a terminal. */
#define PLAIN_TEXT_INKS                                                                            \
    {                                                                                              \
        "\033[0m", "\033[1m", "\033[2m", "\033[33m", "\033[1;32m"                                  \
    }

/* ---- appended text ---- */

/* Appends what printf would print to a text in an array of `size_bytes`; what does not fit is
 * cut. */
void text_add(char *text, size_t size_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Line `index` of a text, without its end: a view of *length bytes; the lines that a text lacks are
 * empty. */
const char *text_line(const char *text, size_t index, size_t *length);

#endif
