/* The table of subcommands. Adding one is adding a file and its name in cmd/line/commands.h. */
#ifndef AUTOTUNE_CMD_TABLE_H
#define AUTOTUNE_CMD_TABLE_H

#include <stddef.h>

#include "cmd/line/options.h"

/* Every subcommand, in the order in which --help lists them. Static storage. */
const command *const *commands_all(size_t *count);

/* The subcommand called `name`, or NULL. */
const command *commands_find(const char *name);

#endif
