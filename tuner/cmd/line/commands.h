/* The subcommands, one file each in the rooms of cmd/. cmd/table.c lists them. */
#ifndef AUTOTUNE_CMD_LINE_COMMANDS_H
#define AUTOTUNE_CMD_LINE_COMMANDS_H

#include "cmd/line/options.h"

extern const command cmd_new, cmd_lint, cmd_help, cmd_tune, cmd_check, cmd_emit, cmd_explain,
    cmd_profile, cmd_inspect, cmd_spills, cmd_importance, cmd_compare, cmd_plot, cmd_report,
    cmd_ceilings, cmd_completion, cmd_space, cmd_devices, cmd_export, cmd_replay, cmd_convert,
    cmd_sweep, cmd_pick, cmd_portfolio, cmd_verify, cmd_results;

#endif
