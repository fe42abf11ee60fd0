/* The subcommands, one cmd_*.c each. Adding one is adding a file and a line of the table in
 * cmd/commands.c. */
#ifndef AUTOTUNE_CMD_COMMANDS_H
#define AUTOTUNE_CMD_COMMANDS_H

#include "cmd/options.h"

extern const command cmd_new, cmd_lint, cmd_help, cmd_tune, cmd_check, cmd_emit, cmd_explain, cmd_profile, cmd_inspect, cmd_spills, cmd_importance, cmd_compare, cmd_plot, cmd_report, cmd_ceilings, cmd_completion, cmd_space, cmd_devices, cmd_export,
    cmd_replay, cmd_convert, cmd_sweep, cmd_pick, cmd_portfolio, cmd_verify, cmd_results;

/* Every subcommand, in the order in which --help lists them. Static storage. */
const command *const *commands_all(size_t *count);

/* The subcommand called `name`, or NULL. */
const command *commands_find(const char *name);

#endif
