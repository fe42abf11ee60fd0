/* Races the result again on the other GPUs of the model: chips of one model differ, and a record
 * speaks for all of them. */
#ifndef AUTOTUNE_RUN_RACE_VERIFY_H
#define AUTOTUNE_RUN_RACE_VERIFY_H

#include "record/summary.h"
#include "run/race/driver.h"

/* Races the winner and the other finalists on every other GPU of the session. Warnings of the
 * summary say where another one wins clearly, and on how many GPUs none does. It waits for the
 * devices. A GPU that is lost on the way is reported too, and is no error. */
at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error);

#endif
