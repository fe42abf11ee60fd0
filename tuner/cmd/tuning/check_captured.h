/* `autotune check --captured DIR`: a launch of a program's own kernel, without its source. */
#ifndef AUTOTUNE_CMD_TUNING_CHECK_CAPTURED_H
#define AUTOTUNE_CMD_TUNING_CHECK_CAPTURED_H

#include "cmd/line/options.h"

/* Runs it on the simulated device and prints the verdict; *exit_code as of `check`. Errors as
 * relaunch_run(). */
at_status check_captured(const options *o, int *exit_code, at_error *error);

#endif
