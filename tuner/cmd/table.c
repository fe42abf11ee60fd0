#include "cmd/table.h"

#include <string.h>

/* The commands of each group, in the order of --help. Command <name> is the object cmd_<name>. */
#define COMMANDS_START(each) each(new) each(check) each(tune) each(explain) each(export)
#define COMMANDS_TUNE(each)                                                                        \
    each(lint) each(space) each(sweep) each(portfolio) each(capture) each(mix) each(replay)
#define COMMANDS_LOOK(each)                                                                        \
    each(emit) each(inspect) each(spills) each(profile) each(importance) each(plot) each(report)
#define COMMANDS_EMBED(each) each(apply) each(pick)
#define COMMANDS_RECORDS(each) each(results) each(compare) each(verify) each(convert)
#define COMMANDS_DEVICES(each) each(devices) each(ceilings) each(calibrate)
#define COMMANDS_HELP(each) each(help) each(completion)

#define COMMANDS_FIRST(each) COMMANDS_START(each) COMMANDS_TUNE(each) COMMANDS_LOOK(each)
#define COMMANDS_THEN(each) COMMANDS_EMBED(each) COMMANDS_RECORDS(each) COMMANDS_DEVICES(each)
#define COMMANDS(each) COMMANDS_FIRST(each) COMMANDS_THEN(each) COMMANDS_HELP(each)

#define DECLARE(name) extern const command cmd_##name;
COMMANDS(DECLARE)

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
