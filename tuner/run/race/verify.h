/* The result of a race, raced again on the other GPUs of the model: chips of one model differ, and what
 * a record says is for all of them. */
#ifndef AUTOTUNE_RUN_RACE_VERIFY_H
#define AUTOTUNE_RUN_RACE_VERIFY_H

#include "record/summary.h"
#include "run/race/driver.h"

/* Races the winner of the race and those that reached the finals with it on every other GPU of the
 * session, and says in the summary's warnings where another one wins clearly, and of how many GPUs
 * none does. It waits for the devices. A GPU that is lost meanwhile
 * is said, too, and is no error. AT_NO_MEMORY. */
at_status verify_elsewhere(const session *s, race_driver *c, const settings *o, run_summary *out,
                           at_error *error);

#endif
