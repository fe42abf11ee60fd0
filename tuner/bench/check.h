/* The check of a kernel on a problem, against the expected results that the slot has.
 *
 * In: a slot whose contents are made (bench/oracle.h), a kernel and its launch. Out: what is wrong
 * with it. */
#ifndef AUTOTUNE_BENCH_CHECK_H
#define AUTOTUNE_BENCH_CHECK_H

#include "bench/problem.h"

/* Parameters and results of a check. */
typedef struct device_check {
    int launches;       /* at least two */
    uint64_t most_work; /* limit per launch (device_analysis.give_up_after); 0 means no limit */
    int64_t most_ns;    /* limit of the first launch (device_hardware.launch_ns); 0 means no limit */
    outcome result;
    int64_t slow_ns; /* time of the first launch if above most_ns: nothing is checked; or 0 */
    char *text;  /* buffer of the caller; reason if the result is not OUTCOME_OK */
    size_t text_bytes;
    device_fault fault; /* the reason as fields */
    char *printed; /* owned, also after a failure; output of the first launch, or of the wrong one; NULL if there is none */
} device_check;

/* Runs the kernel on poisoned outputs, and checks outputs, guard bands and inputs. The bytes in and
 * around its buffers differ from launch to launch. If s->trouble is set, outputs are only compared
 * with each other. Returns AT_OK if the kernel ran; how->result is then the result of the check,
 * and *differs is true if the contents of an output are wrong. Returns AT_COMPILE if the launch is
 * refused, AT_DEVICE if it faults. */
at_status device_check_once(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, bool *differs, at_error *error);

#endif
