/* Kernels timed side by side on one device: every block has one sample of each, in an order of its own,
 * so that a clock that drifts meets all of them alike.
 *
 * In: an open device worker and its variants, compiled. Out: for each what it ended as and its samples,
 * one a block. Samples of the same block may be compared as pairs. */
#ifndef AUTOTUNE_RUN_SIDE_BY_SIDE_H
#define AUTOTUNE_RUN_SIDE_BY_SIDE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bench/client.h"

typedef struct side {
    device_image image; /* borrowed */
    launch_plan launch;
    outcome outcome;
    char message[256];   /* why it is not ok */
    int64_t *samples_ns; /* one a block, in the order of the blocks; owned; NULL unless it is ok */
    size_t sample_count;
} side;

/* Waits until the device's set-up is done. The status of what stopped it. */
at_status side_by_side_ready(device_worker *w, device_ready *out, at_error *error);

/* Checks each side against the reference, then takes `blocks` blocks of those that are right. A side that
 * fails has its outcome and message; the others go on. `seed` orders the blocks. The caller calls
 * side_deinit on each. AT_INTERRUPTED, AT_DEVICE ... */
at_status side_by_side_run(device_worker *w, side *sides, size_t count, size_t blocks, uint64_t seed,
                           at_error *error);
void side_deinit(side *s);

#endif
