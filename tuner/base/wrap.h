/* Output to a terminal: a stream without control characters, and a stream that wraps lines.
 *
 * Lines are broken at a blank, or after a comma before a letter, but never within a word. If the
 * left half of a line has a column (text after two or more blanks), the continuation is indented to
 * the last column. Otherwise it is indented by two blanks more than the line. If the next line
 * already has that indentation, because its text was wrapped by hand, it is joined. */
#ifndef AUTOTUNE_BASE_WRAP_H
#define AUTOTUNE_BASE_WRAP_H

#include <stdbool.h>
#include <stdio.h>

/* Returns a stream to `fd` that escapes control characters as plain_text_escape() does; with
 * `colours`, the program's own colours pass. A buffered stream is line buffered for a terminal,
 * otherwise block buffered. The caller closes `fd`. Returns NULL if memory ran out. */
FILE *plain_text_stream(int fd, bool colours, bool buffered);

/* Returns a stream to `to` whose lines have at most `columns` characters, without colour escapes.
 * Closing it flushes `to` and leaves it open. Returns NULL if memory ran out. */
FILE *wrap_stream(FILE *to, size_t columns);

/* Returns how many bytes of `text` fit on a line of `columns` characters: all, or up to a break,
 * but at least one word. `*skip` gets the number of blanks at the break, which are not printed. */
size_t wrap_cut(const char *text, size_t columns, size_t *skip);

/* Prints a label in `indent` characters, and beside it `words`, wrapped to `columns`. */
void wrap_print(size_t columns, int indent, const char *label, const char *words, FILE *to);

#endif
