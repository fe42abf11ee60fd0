/* The check of a kernel on a problem, against the expected results that the slot has.
 *
 * In: a slot whose contents are made (bench/oracle.h), a kernel and its launch. Out: what is wrong
 * with it. */
#ifndef AUTOTUNE_BENCH_CHECK_H
#define AUTOTUNE_BENCH_CHECK_H

#include "bench/problem.h"

/* How a slot is checked, and what came of it. */
typedef struct device_check {
    int launches;       /* two or more */
    uint64_t most_work; /* of each (device_analysis.give_up_after); 0: any */
    int64_t most_ns;    /* of the first launch (device_hardware.launch_ns); 0: any */
    outcome result;
    int64_t
        slow_ns; /* the first launch took as long, which is more: nothing was checked. 0: not so */
    char *text;  /* the caller's: why the result is not OUTCOME_OK */
    size_t text_bytes;
    device_fault fault; /* the same as fields */
    char *printed; /* owned, also after a failure: by the first launch, or by the one that is wrong;
                      NULL: nothing */
} device_check;

/* Runs the kernel on poisoned outputs, and checks outputs, guard bands and inputs. The bytes in and
 * around its buffers differ from launch to launch. AT_OK: it ran, and how->result says how.
 * *differs: what is wrong is an output's contents. Where the oracle is in trouble outputs are
 * compared with each other alone. AT_COMPILE: the launch was refused. AT_DEVICE: it faulted. */
at_status device_check_once(device_slot *s, device_kernel *k, const launch_plan *launch,
                            device_check *how, bool *differs, at_error *error);

#endif
