/* The table of subcommands, their --help, and `autotune --version`. A new command is a new file and
 * a name in cmd/table.c. */
#ifndef AUTOTUNE_CMD_TABLE_H
#define AUTOTUNE_CMD_TABLE_H

#include <stddef.h>

#include "cmd/line/options.h"

typedef struct command_group {
    const char *title;
    size_t count; /* the group has the next `count` commands of commands_all() */
} command_group;

/* Returns the groups of --help, in their order. Static storage. */
const command_group *commands_groups(size_t *count);

/* Returns every subcommand, in the order of --help. Static storage. */
const command *const *commands_all(size_t *count);

const command *commands_find(const char *name); /* returns NULL if there is none */

void help_print(const command *c);

/* Prints the version and the confinement of workers. `words` are the `count` words after --version:
 * "--json", or "--verbose", which loads NVRTC and prints the facts for a bug report. AT_USAGE. */
at_status version_print(size_t count, char *const *words, at_error *error);

#endif
