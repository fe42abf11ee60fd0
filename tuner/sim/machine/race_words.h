/* Reports races as faults, in words: what was done to which place, by whom, and what would have
 * ordered it. `a` is the present access, `s` the other one. All reports return false. */
#ifndef AUTOTUNE_SIM_MACHINE_RACE_WORDS_H
#define AUTOTUNE_SIM_MACHINE_RACE_WORDS_H

#include "sim/machine/race.h"

/* `what` ends before the other thread: "written by this thread after a read by". */
bool sim_race_report(const sim_race_access *a, const sim_stamp *s, const char *what);

/* The other access is a copy under way, to the place or (`to` false) from it. */
bool sim_race_report_under_way(const sim_race_access *a, const sim_stamp *s, bool reads, bool to);

/* One of the two goes by the path that is not coherent, or by a surface. */
bool sim_race_report_noncoherent(const sim_race_access *a, const sim_stamp *s, bool reads);

/* No fence between proxies orders what a thread wrote before the engine's access. */
bool sim_race_report_proxy(const sim_race_access *a, const sim_stamp *s);

#endif
