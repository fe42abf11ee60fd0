/* The data of a problem that may be larger than this machine's memory: contents exist where they
 * are touched.
 *
 * What is touched holds what bench/problem.c fills a whole problem with: fills from the same seeds,
 * then the kernel that prepares inputs, of which those blocks run that write there. One place makes
 * the data of proofs by excerpts, of `explain` and of predicted times. */
#ifndef AUTOTUNE_SIM_DATA_H
#define AUTOTUNE_SIM_DATA_H

#include "sim/device.h"

typedef struct sim_data sim_data;

/* A kernel that prepares inputs. */
typedef struct sim_filler {
    device_image image; /* PTX, borrowed for the call; of size 0: there is none */
    launch_plan launch;
} sim_filler;

/* Makes the buffers of a problem, from plan->seed; `filler` may be NULL. `contents`: of buffers
 * that files fill, NULL for others; they outlive the data. NULL: there are none. *out is freed by
 * sim_data_free() whatever the result, before the device. AT_DEVICE: there is no room in the
 * address space. AT_COMPILE: the filler cannot run here. */
at_status sim_data_new(device *d, const problem_plan *plan, const sim_filler *filler,
                       const void *const *contents, sim_data **out, at_error *error);
void sim_data_free(sim_data *s); /* NULL is fine */

/* The buffers that a variant is given, in the plan's order, then NULL. */
device_buffer *const *sim_data_buffers(const sim_data *s);

/* A further buffer like buffer `i`, which no variant is given: for a reference. Freed with the
 * others. */
at_status sim_data_add_twin(sim_data *s, uint32_t i, device_buffer **out, at_error *error);

/* Gives the buffers that a variant may have written the contents that they had at first. Those of
 * inputs stay. */
void sim_data_reset(sim_data *s);

/* Has the kernel that prepares inputs write all that it writes. *done: it could, at a cost that
 * compares with a launch of a variant. */
at_status sim_data_fill_all(sim_data *s, bool *done, at_error *error);

/* Does the same as sim_data_reset() for twins. */
void sim_data_reset_twins(sim_data *s);

/* The chunks of buffer `i` that were touched since then, in no order. Only where no kernel runs. */
const uint64_t *sim_data_touched(const sim_data *s, uint32_t i, size_t *count);

/* Why some of the contents are not what the script says; NULL: all are. */
const char *sim_data_trouble(const sim_data *s);

#endif
