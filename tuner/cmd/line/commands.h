/* The subcommands, one file each in the rooms of cmd/. */
#ifndef AUTOTUNE_CMD_LINE_COMMANDS_H
#define AUTOTUNE_CMD_LINE_COMMANDS_H

#include "cmd/line/options.h"

/* The groups in which --help lists the commands, in this order. */
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

#define COMMANDS_DECLARE(name) extern const command cmd_##name;
COMMANDS(COMMANDS_DECLARE)

#endif
