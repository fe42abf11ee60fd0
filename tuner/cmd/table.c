#include "cmd/table.h"

#include <string.h>

#include "cmd/line/commands.h"

#define ADDRESS(name) &cmd_##name,

static const command *const table[] = {COMMANDS(ADDRESS)};

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
