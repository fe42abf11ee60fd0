/* The verbs of `autotune results`: the operands begin with one. */
#ifndef AUTOTUNE_CMD_RESULTS_RESULTS_H
#define AUTOTUNE_CMD_RESULTS_RESULTS_H

#include "cmd/line/options.h"

/* The same as a command's `run` and `answer`. */
typedef at_status results_verb(const options *o, at_error *error);
typedef at_status results_answer(const options *o, int *exit_code, at_error *error);

results_verb results_merge, results_prune;
results_answer results_validate;

#endif
