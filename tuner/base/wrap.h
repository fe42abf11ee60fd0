/* A stream that wraps lines to the width of a terminal.
 *
 * A line is broken at a blank, or after a comma that a letter follows (between the parts of a
 * configuration), never within a word or a value; a word that is wider than the terminal stays
 * whole. The rest is indented to the last column of text that begins in the line's left half (after
 * two or more blanks), else by two more than the line. If the next line has that indentation
 * already, as text that was wrapped by hand has, it is joined to the rest. */
#ifndef AUTOTUNE_BASE_WRAP_H
#define AUTOTUNE_BASE_WRAP_H

#include <stdio.h>

/* A stream over `to` whose lines have at most `columns` characters, colour escapes not counted.
 * Closing it flushes, and leaves `to` open. NULL when memory ran out. */
FILE *wrap_stream(FILE *to, size_t columns);

/* How many bytes of `text` go on a line of `columns` characters, broken as above: all if it fits,
 * at least one word. *skip gets the number of blanks after them, which the break replaces. */
size_t wrap_cut(const char *text, size_t columns, size_t *skip);

/* Prints a label and words beside it, wrapped to a page of `columns`. `indent` is the width of the
 * label's column. */
void wrap_print(size_t columns, int indent, const char *label, const char *words, FILE *to);

#endif
