/* Predicts the times of kernels of one problem from a sample of their blocks.
 *
 * The input is a chip, a problem, PTX and a launch. The output is the predicted time, and the
 * profile and counters of the sample. Touched inputs have the script's contents (sim/data.h). */
#ifndef AUTOTUNE_SIM_ESTIMATE_H
#define AUTOTUNE_SIM_ESTIMATE_H

#include "device/device.h"
#include "sim/data.h"
#include "sim/kernel.h"
#include "sim/model.h"

typedef struct sim_estimate sim_estimate;

/* Prepares the buffers of a problem on a chip. Copies `filler`, which may be NULL; `contents` is as
 * in sim_data_new(). Free *out with sim_estimate_free(). Returns the errors of sim_data_new(), and
 * AT_USAGE. */
at_status sim_estimate_new(const sim_chip *chip, const problem_plan *plan, const sim_filler *filler,
                           const void *const *contents, sim_estimate **out, at_error *error);
void sim_estimate_free(sim_estimate *e); /* `e` may be NULL */

/* Makes later samples call `progress` with the number of blocks that have run. */
void sim_estimate_watch(sim_estimate *e,
                        void (*progress)(void *context, uint64_t done, uint64_t total),
                        void *context);

/* Returns why some touched inputs differ from the script's inputs, or NULL if all are right. */
const char *sim_estimate_trouble(const sim_estimate *e);

typedef struct sim_estimated {
    uint32_t launch; /* index of the launch in the plan, and of its program in the kernel */
    sim_profile profile;
    sim_prediction prediction;
    sim_kernel kernel;     /* owned; has the source lines of the counters */
    sim_counter *counters; /* counters of the sample, one for each instruction; owned */
    sim_fault fault; /* fault of the sample. After a fault, only `launch` and `kernel` are valid */
} sim_estimated;

void sim_estimated_deinit(sim_estimated *s);

/* Runs `sample` blocks of the launch at index `i` of the plan; 0 is a default number. `image` is
 * PTX. Returns AT_OK even after a fault (out->fault), AT_NO_DEVICE if the PTX is not supported, and
 * AT_COMPILE if the kernel cannot run on this chip. On success the caller frees *out with
 * sim_estimated_deinit(). */
at_status sim_estimate_kernel(sim_estimate *e, const device_image *image, const launch_plan *plan,
                              uint32_t i, uint64_t sample, sim_estimated *out, at_error *error);

#endif
