/* Predictions for kernels of one problem, without running them whole.
 *
 * In: a chip and a problem; then PTX and a launch at a time. Out: predicted time, profile
 * and counters of a sample of blocks. Inputs hold what the script says (sim/data.h), where the
 * sample touches them. */
#ifndef AUTOTUNE_SIM_ESTIMATE_H
#define AUTOTUNE_SIM_ESTIMATE_H

#include "device/device.h"
#include "sim/data.h"
#include "sim/kernel.h"
#include "sim/model.h"

typedef struct sim_estimate sim_estimate;

/* Prepares buffers for the problem on a chip; `filler`, which is copied, prepares inputs, NULL:
 * nothing does; `contents` as sim_data_new() takes them. AT_DEVICE, AT_COMPILE, AT_NO_MEMORY. The
 * caller frees *out with sim_estimate_free. */
at_status sim_estimate_new(const sim_chip *chip, const problem_plan *plan, const sim_filler *filler,
                           const void *const *contents, sim_estimate **out, at_error *error);
void sim_estimate_free(sim_estimate *e); /* NULL is fine */

/* Has `progress` called from now on, with the number of sampled blocks that were run. */
void sim_estimate_watch(sim_estimate *e,
                        void (*progress)(void *context, uint64_t done, uint64_t total),
                        void *context);

/* Why some inputs are not what the script says; NULL: all are, as far as they were touched. */
const char *sim_estimate_trouble(const sim_estimate *e);

/* The findings of an estimate of one launch. */
typedef struct sim_estimated {
    uint32_t launch; /* its place in the plan, and its program's in the kernel */
    sim_profile profile;
    sim_prediction prediction;
    sim_kernel kernel;     /* owned: lines and locations of the counters */
    sim_counter *counters; /* owned; one for each instruction of the program, of the sample */
    sim_fault fault;       /* if not SIM_FAULT_NONE, only `launch` and `kernel` above are valid */
} sim_estimated;

void sim_estimated_deinit(sim_estimated *s);

/* Runs `sample` blocks (0: a default) of the launch at place `i` of the plan. `image` is PTX. AT_OK
 * also when the kernel faults (out->fault). AT_COMPILE: it cannot run on this chip. */
at_status sim_estimate_kernel(sim_estimate *e, const device_image *image, const launch_plan *plan,
                              uint32_t i, uint64_t sample, sim_estimated *out, at_error *error);

/* Estimates, like above, but only the time of all launches together, by which a search orders
 * variants. The data that earlier variants wrote is gone. */
at_status sim_estimate_time(sim_estimate *e, const device_image *image, const launch_plan *plan,
                            double *time_ns, at_error *error);

#endif
