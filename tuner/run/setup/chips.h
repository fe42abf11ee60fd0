/* Which chip times are predicted for: the one that is asked for by name, else the machine's GPU,
 * with what was measured of it (results/<gpu>/device.json), else the typical one of sm_90. */
#ifndef AUTOTUNE_RUN_SETUP_CHIPS_H
#define AUTOTUNE_RUN_SETUP_CHIPS_H

#include "device/device.h"
#include "run/setup/settings.h"
#include "sim/chip.h"

/* By --arch, which may name a chip ("h100"). AT_USAGE for an unknown name; AT_FORMAT for a damaged
 * file of measurements. */
at_status chips_wanted(const settings *o, sim_chip *out, at_error *error);

/* The chip of a device: a GPU, or a simulated one. Errors as above. */
at_status chips_of_device(const device_properties *d, const char *results_dir, sim_chip *out,
                          at_error *error);

#endif
