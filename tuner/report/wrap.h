/* Lines no wider than a terminal: a stream that continues longer ones on lines of their own.
 *
 * A line is broken at a blank, or behind a comma that a letter follows (between the parts of a
 * configuration), never within a word or a value; a word that is wider than the terminal stays whole.
 * What is continued stands below the line's last column of text in its left half (behind two blanks or
 * more), else two further in than the line. Where the next line stands there already, as in text that was
 * broken by hand, it goes on from there. */
#ifndef AUTOTUNE_REPORT_WRAP_H
#define AUTOTUNE_REPORT_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* A stream over `to` whose lines have at most `columns` characters; escapes for colours have none.
 * Closing it writes what waits, and leaves `to` open. NULL without memory. */
FILE *wrap_stream(FILE *to, size_t columns);

/* How many bytes of `text` go on a line of `columns` characters, broken as above; *skip gets how many behind
 * them are blanks that the break replaces. All of it where it fits; one whole word where none does. */
size_t wrap_cut(const char *text, size_t columns, size_t *skip);

#endif
