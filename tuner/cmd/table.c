#include "cmd/table.h"

#include <string.h>

#include "cmd/line/commands.h"

static const command *const table[] = {
    &cmd_tune,
    &cmd_check,
    &cmd_emit,
    &cmd_explain,
    &cmd_profile,
    &cmd_inspect,
    &cmd_spills,
    &cmd_importance,
    &cmd_compare,
    &cmd_verify,
    &cmd_results,
    &cmd_plot,
    &cmd_report,
    &cmd_ceilings,
    &cmd_space,
    &cmd_new,
    &cmd_lint,
    &cmd_help,
    &cmd_pick,
    &cmd_export,
    &cmd_replay,
    &cmd_convert,
    &cmd_devices,
    &cmd_sweep,
    &cmd_portfolio,
    &cmd_completion,
};

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
