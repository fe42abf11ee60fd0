/* The subcommands, one file each in the rooms of cmd/. */
#ifndef AUTOTUNE_CMD_LINE_COMMANDS_H
#define AUTOTUNE_CMD_LINE_COMMANDS_H

#include "cmd/line/options.h"

/* --help lists them in this order. */
#define COMMANDS(each)                                                                             \
    each(tune) each(check) each(emit) each(explain) each(profile) each(inspect) each(spills)       \
        each(importance) each(compare) each(verify) each(results) each(plot) each(report)          \
            each(ceilings) each(calibrate) each(space) each(new) each(apply) each(lint) each(help) \
                each(pick) each(export) each(replay) each(convert) each(capture) each(mix)         \
                    each(devices) each(sweep) each(portfolio) each(completion)

#define COMMANDS_DECLARE(name) extern const command cmd_##name;
COMMANDS(COMMANDS_DECLARE)

#endif
