/* The race driver: runs the race between candidates on the device.
 *
 * Input: candidates that work, with their first samples. Output: the race's result. Each finalist
 * is checked once more, on fresh data. --objective energy ranks the finalists by the energy of a
 * launch, measured after the race. The rules are in search/race/race.h; this module loads kernels,
 * asks for samples of blocks and watches the clock. */
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

typedef struct race_driver_state { /* state for the progress line */
    race_stage stage;
    uint64_t done, left;        /* number of samples so far, and of samples that may follow */
    int64_t ceiling_ns;         /* median of the copies in the blocks so far; 0 if there is none */
    int64_t race_ns, finals_ns; /* wall time */
    uint64_t redone;            /* blocks measured again because the clock had moved */
    uint64_t throttled;         /* times that the chip stayed away from its clock */
    double sm_clock_khz;        /* median of the latest blocks; 0 if unknown */
    uint64_t throttle;          /* reasons, as board_throttle_text() spells them; 0 if unknown */
    uint32_t others;            /* largest count of other processes that computed on the GPU */
    uint64_t excluded;          /* entrants that failed during the race */
    char energy_trouble[256];   /* reason why wanted energies are missing */
} race_driver_state;

/* Enters every candidate that works: the `most` fastest (all if `most` is 0) and the `baseline`,
 * the script's default (may be NULL). `log` (borrowed) has the answers of an interrupted race of
 * the same plan, which are used before the device is asked; new answers are added. The rules are
 * those of race_rules(). Returns AT_NOT_FOUND if no candidate works. */
at_status race_driver_new(session *s, pipeline *p, race_log *log, const candidate *baseline,
                          size_t most, const settings *o, race_driver **out, at_error *error);
void race_driver_free(race_driver *d); /* `d` may be NULL. */

/* Samples the next block. Sets *finished when no block is left and the finalists are checked.
 * Returns AT_DEVICE if the device is lost for good, AT_INTERRUPTED at session.end_ns. Keeps the
 * result so far. */
at_status race_driver_step(race_driver *d, bool *finished, at_error *error);

/* Sets the time (clock_now_ns()) until which the driver waits for proofs and begins checks of
 * finalists other than the winner, for a run that must end in seconds. */
void race_driver_hurry(race_driver *d, int64_t until_ns);

/* Ends the race: no further block is sampled. */
void race_driver_stop(race_driver *d);

/* Returns the state, which changes with the next step. */
const race_driver_state *race_driver_get_state(const race_driver *d);

/* Return the race's result so far, and the candidate of an entrant. */
const race_result *race_driver_result(race_driver *d);
candidate *race_driver_candidate(const race_driver *d, uint32_t entrant);
/* Returns the energy of a launch of this entrant; launch_j is 0 if it was not measured. */
energy_estimate race_driver_energy(const race_driver *d, uint32_t entrant);

/* Returns the protocol of search/race/race.h with the seed, blocks and margin of the settings. A
 * quick run races in fewer blocks and leaves out a much slower default. It races only variants
 * whose first samples are near the best. The limit follows from the spread of the samples of
 * `tried`. If the spread is unknown or `tried` is NULL, the widest limit holds. */
race_options race_rules(const settings *o, const candidates *tried);

#endif
