/* Plans (device/plan.h) as bytes, for another process or for a hash.
 *
 * Everything that is read is checked (counts, enumerations, names, sizes): a corrupt message is
 * false, and the pack has failed, never a plan. */
#ifndef AUTOTUNE_DEVICE_PLAN_PACK_H
#define AUTOTUNE_DEVICE_PLAN_PACK_H

#include "base/pack.h"
#include "device/plan.h"

void plan_put_problem(pack *m, const problem_plan *plan);
bool plan_get_problem(pack *m, problem_plan *out);
void plan_put_launch(pack *m, const launch_plan *plan);
bool plan_get_launch(pack *m, launch_plan *out);

#endif
