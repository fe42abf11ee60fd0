/* The terminal that stdout is, if it is one. */
#ifndef AUTOTUNE_CMD_LINE_TERMINAL_H
#define AUTOTUNE_CMD_LINE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct table; /* report/table.h */

/* Is stdout a terminal, and colour not refused by NO_COLOR? */
bool terminal_wants_colour(void);

/* Does the locale ($LC_ALL, $LC_CTYPE, $LANG) have letters beyond ASCII? */
bool terminal_speaks_utf8(void);

/* As $COLUMNS says, else as wide as the terminal: 40 at least, `most` at most; 0: no terminal. */
size_t terminal_columns(size_t most);

/* What a line may have: as $COLUMNS says, else as wide as the terminal, 40 to 200; 80 where there is none. */
size_t terminal_page(void);

/* Prints a table to stdout, in that width, with colour where it is wanted. As table_print(). */
at_status terminal_print_table(struct table *t, at_error *error);

/* Writes to the file, as file_replace(); to stdout where `path` is NULL. AT_IO. */
at_status terminal_or_file(const char *path, const void *bytes, size_t size_bytes, at_error *error);

#endif
