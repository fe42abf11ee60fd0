/* Data of problems that may be larger than this machine's memory, made at the first touch.
 *
 * Touched bytes get the same contents as a whole problem in bench/problem.c: fills from the same
 * seeds, then the output of the filler, the kernel that prepares inputs. Only the filler's blocks
 * that write touched bytes run. Excerpts, `explain` and predicted times use this module. */
#ifndef AUTOTUNE_SIM_DATA_H
#define AUTOTUNE_SIM_DATA_H

#include "sim/device.h"

typedef struct sim_data sim_data;

typedef struct sim_filler {
    device_image image; /* PTX, borrowed for the call; the size is 0 if there is no filler */
    launch_plan launch;
} sim_filler;

/* Makes the buffers of a problem from plan->seed. `filler` and `contents` may be NULL. contents[i]
 * is NULL or the contents of buffer i from a file, which must outlive the data. The caller frees
 * *out with sim_data_free() before the device, even after an error. Returns AT_DEVICE if the
 * address space has no room, AT_NO_DEVICE or AT_COMPILE if the filler cannot run here. */
at_status sim_data_new(device *d, const problem_plan *plan, const sim_filler *filler,
                       const void *const *contents, sim_data **out, at_error *error);
void sim_data_free(sim_data *s); /* `s` may be NULL */

/* Returns the buffers for a variant in the plan's order; NULL ends the list. */
device_buffer *const *sim_data_buffers(const sim_data *s);

/* Adds a second buffer like buffer `i`, for the reference. sim_data_free() frees it. */
at_status sim_data_add_expected(sim_data *s, uint32_t i, device_buffer **out, at_error *error);

/* Restores the initial contents of the buffers that a variant may have written. Inputs stay. */
void sim_data_reset(sim_data *s);

/* Runs all blocks of the filler, unless they have run. If the filler has several launches or too
 * many threads, sets *done to false and runs nothing. */
at_status sim_data_fill_all(sim_data *s, bool *done, at_error *error);

/* Does the same as sim_data_reset() for the buffers of sim_data_add_expected(). */
void sim_data_reset_expected(sim_data *s);

/* Returns the chunks of buffer `i` touched since the last reset. No kernel may run meanwhile. */
const uint64_t *sim_data_touched(const sim_data *s, uint32_t i, size_t *count);

/* Returns why some contents differ from the script's contents, or NULL if all are right. */
const char *sim_data_trouble(const sim_data *s);

#endif
