#include "cmd/table.h"

#include <string.h>

#include "cmd/line/commands.h"

#define ADDRESS(name) &cmd_##name,

static const command *const table[] = {COMMANDS(ADDRESS)};

#define COUNT(name) +1
static const command_group groups[] = {
    {"Start here", 0 COMMANDS_START(COUNT)},
    {"Tune and search", 0 COMMANDS_TUNE(COUNT)},
    {"Look at variants and runs", 0 COMMANDS_LOOK(COUNT)},
    {"Embed what was found", 0 COMMANDS_EMBED(COUNT)},
    {"Keep records", 0 COMMANDS_RECORDS(COUNT)},
    {"Know the devices", 0 COMMANDS_DEVICES(COUNT)},
    {"Get help", 0 COMMANDS_HELP(COUNT)},
};

const command_group *commands_groups(size_t *count)
{
    *count = sizeof groups / sizeof *groups;
    return groups;
}

const command *const *commands_all(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

const command *commands_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}
