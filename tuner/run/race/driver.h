/* The race driver: runs the race between candidates on the device.
 *
 * In: candidates that are ok, with their first samples. Out: the race's result. Each finalist is
 * checked once more on fresh data after it was measured; with --objective energy the finalists are
 * ranked by the energy of a launch, measured after the race. The rules are in search/race/race.h;
 * this module loads kernels, has blocks sampled and watches the clock. */
#ifndef AUTOTUNE_RUN_RACE_DRIVER_H
#define AUTOTUNE_RUN_RACE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "run/race/race_log.h"
#include "run/setup/session.h"
#include "run/setup/settings.h"
#include "run/variant/pipeline.h"
#include "run/variant/variant.h"
#include "search/race/race.h"

typedef struct race_driver race_driver;

typedef struct race_driver_state { /* for progress */
    race_stage stage;
    uint64_t done, left;        /* samples */
    int64_t ceiling_ns;         /* median of the copies in the blocks so far; 0: none */
    int64_t race_ns, finals_ns; /* wall time spent */
    uint64_t redone;            /* blocks measured again because the clock had moved */
    uint64_t throttled;         /* times that the chip stayed away from its clock */
    double sm_clock_khz;        /* median of the latest blocks; 0 unknown */
    uint64_t throttle;          /* why, as board_throttle_text() spells it; 0 not known */
    uint32_t others;            /* other processes seen computing on the GPU, at most */
    uint64_t excluded;          /* entrants that failed during the race */
    char energy_trouble[256];   /* why there are no energies although they were asked for */
} race_driver_state;

/* Enters every candidate of the pipeline that is ok. `log` (borrowed) holds the answers of an
 * interrupted race of the same plan, which are used before the device is asked; new answers are
 * added to it. `baseline` is the candidate of the script's default, or NULL; the rules are those of
 * race_rules(), and no more than `most` enter beside it, the fastest so far (0: as many as the
 * rules say). AT_NOT_FOUND if no candidate is ok. */
at_status race_driver_new(session *s, pipeline *p, race_log *log, const candidate *baseline,
                          size_t most, const settings *o, race_driver **out, at_error *error);
void race_driver_free(race_driver *d); /* NULL is fine */

/* Samples the next block; sets *finished when no block is left and the finalists are checked.
 * AT_DEVICE if the device is lost for good, AT_INTERRUPTED when the run must end (session.end_ns):
 * the result so far stands. */
at_status race_driver_step(race_driver *d, bool *finished, at_error *error);

/* Waits until then (as clock_now_ns()) for proofs, at most, and checks finalists other than the
 * winner only before: a run that is to answer within seconds does without. */
void race_driver_hurry(race_driver *d, int64_t until_ns);

/* No further blocks. */
void race_driver_stop(race_driver *d);

const race_driver_state *race_driver_get_state(const race_driver *d);

/* The race's result as it stands, and the candidate of an entrant. */
const race_result *race_driver_result(race_driver *d);
candidate *race_driver_candidate(const race_driver *d, uint32_t entrant);
/* The energy of a launch of this entrant; launch_j 0: not measured. */
energy_estimate race_driver_energy(const race_driver *d, uint32_t entrant);

/* The rules of a race: the protocol of search/race/race.h with what the settings change. */

/* The protocol with seed, blocks and margin of the settings. A quick run races only the few that
 * are nearest to the best by their first samples, in fewer blocks, and no default that is much
 * slower. The samples of the variants that were tried say how near; if they do not tell, or `tried`
 * is NULL, it is the most that it can be. */
race_options race_rules(const settings *o, const candidates *tried);

#endif
