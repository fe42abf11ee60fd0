/* Runs a captured launch again on the simulated device: the machine code that the driver would make
 * of the module's PTX, on the program's own data, with every fault watched.
 *
 * Each allocation lies far from every other, so that an access beside it is found, unless memory
 * holds addresses itself: then all lie where they lay. Variables of the
 * module hold what they held, those that could not be read what the PTX gives them. */
#ifndef AUTOTUNE_CAPTURE_RELAUNCH_H
#define AUTOTUNE_CAPTURE_RELAUNCH_H

#include "capture/capture.h"
#include "device/outcome.h"

/* A place where the simulated device and the program's GPU differ. */
typedef struct relaunch_difference {
    uint64_t words;      /* of 4 bytes, that differ; 0: none */
    uint64_t beyond;     /* of these, that as floats differ by more than RELAUNCH_ULPS */
    uint32_t allocation; /* where the first of those beyond, else of all, is: */
    uint64_t offset;     /* in bytes */
    uint32_t expected, found;
} relaunch_difference;

/* Approximate instructions round differently on each chip. */
enum { RELAUNCH_ULPS = 8, RELAUNCH_FAULT_BYTES = 1536 };

typedef struct relaunch_result {
    uint64_t blocks, blocks_run; /* of the grid, and of these; in clusters, where there are any */
    uint64_t bytes_written;      /* that differ from those before the launch */
    char fault[RELAUNCH_FAULT_BYTES]; /* what it did wrong, or what keeps the device from telling;
                                         "": nothing */
    device_fault at;                  /* the same as fields */
    bool undecided;                   /* the latter */
    relaunch_difference difference;   /* where there is no fault */
    bool variables_unread;            /* the module has some whose contents are not known */
    bool has_atomics;                 /* on global memory */
    bool holds_addresses;             /* its memory does */
    bool compared; /* false: of blocks whose results need those of others, which did not run */
} relaunch_result;

/* Runs it in the order of its blocks, and again in an adverse order. `most_work` bounds, in the
 * unit of sim/machine/run.h, what that takes: then some blocks run, the first and the last among
 * them. AT_NO_DEVICE: there is no PTX of it, or it is not simulated; AT_IO, AT_FORMAT, AT_DEVICE
 * (no memory). */
at_status relaunch_run(const captured_launch *c, uint64_t most_work, relaunch_result *out,
                       at_error *error);

#endif
