/* Texts: made safe for a terminal, appended to, compared by their spelling. */
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

/* ---- nearest names ---- */

/* Finds the valid name for "did you mean" in error messages: that with the smallest edit distance
 * (insert, delete, replace, swap of neighbours: Damerau, "optimal string alignment") to `typed`, or
 * NULL when none is near enough to be what was meant: at most a third of the typed letters, at
 * least one. The first of equals. Names are borrowed. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* ---- texts of headers ----
 *
 * A file that CUDA source includes, read beforehand: NVRTC is handed its text and opens no file for
 * it. */

/* More than any source has; a message that claims more is corrupt. */
enum { SOURCE_HEADERS_MAX = 512 };

typedef struct source_header {
    const char *name; /* as the #include spells it */
    const char *text; /* NUL-terminated */
} source_header;

#endif
