/* Text of others, made safe for a terminal.
 *
 * Names, messages and records come from anyone, and a terminal obeys control characters in them.
 * They are written as JSON would write them (\u001b), so that text within JSON stays JSON; newline
 * and tab stay, and so does all other UTF-8. Bytes that are not UTF-8 become \ufffd. */
#ifndef AUTOTUNE_BASE_PLAIN_TEXT_H
#define AUTOTUNE_BASE_PLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

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

#endif
