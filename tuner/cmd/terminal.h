/* The terminal that stdout is, if it is one. */
#ifndef AUTOTUNE_CMD_TERMINAL_H
#define AUTOTUNE_CMD_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Is stdout a terminal, and colour not refused by NO_COLOR? */
bool terminal_wants_colour(void);

/* As $COLUMNS says, else as wide as the terminal: 40 at least, `most` at most; 0: no terminal. */
size_t terminal_columns(size_t most);

#endif
