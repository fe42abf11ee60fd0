/* The table of subcommands. Adding one is adding a file and its name in cmd/line/commands.h. */
#ifndef AUTOTUNE_CMD_TABLE_H
#define AUTOTUNE_CMD_TABLE_H

#include <stddef.h>

#include "cmd/line/options.h"

/* Commands that stand together in --help. */
typedef struct command_group {
    const char *title;
    size_t count; /* of its commands, the next ones of commands_all() */
} command_group;

const command_group *commands_groups(size_t *count);

/* Every subcommand, in the order in which --help lists them. Static storage. */
const command *const *commands_all(size_t *count);

/* The subcommand called `name`, or NULL. */
const command *commands_find(const char *name);

#endif
