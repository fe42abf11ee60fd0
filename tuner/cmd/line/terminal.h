/* The terminal on stdout, if there is one. */
#ifndef AUTOTUNE_CMD_LINE_TERMINAL_H
#define AUTOTUNE_CMD_LINE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Is stdout a terminal that has colours (TERM is not dumb), and does NO_COLOR not refuse them? */
bool terminal_wants_colour(void);

/* Does the locale ($LC_ALL, $LC_CTYPE, $LANG) have characters beyond ASCII? */
bool terminal_speaks_utf8(void);

/* The width: $COLUMNS, else that of the terminal, from 40 to `most`; 0: no terminal. */
size_t terminal_columns(size_t most);

/* The longest line: $COLUMNS, else the width of the terminal, from 40 to 200; 80 without a
 * terminal. */
size_t terminal_page(void);

/* Writes to the file, as file_replace(); to stdout where `path` is NULL. AT_IO. */
at_status terminal_or_file(const char *path, const void *bytes, size_t size_bytes, at_error *error);

#endif
