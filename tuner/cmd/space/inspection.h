/* Sweeps over parameters, and the resources of variants after compilation. Needs NVRTC and no GPU.
 *
 * A sweep comes from --over NAME=V1,V2,...,VN. "..." stands for all values between its neighbours.
 * NAME alone stands for all values. Several sweeps form all combinations of their values; the first
 * sweep varies slowest. */
#ifndef AUTOTUNE_CMD_SPACE_INSPECTION_H
#define AUTOTUNE_CMD_SPACE_INSPECTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "compile/compile.h"
#include "device/arch.h"
#include "script/script.h"

typedef struct sweep_axis {
    size_t parameter;
    uint16_t *values; /* indices of the parameter's values */
    size_t count;
} sweep_axis;

typedef struct sweep {
    sweep_axis *axes;
    size_t axis_count;
    size_t row_count;                      /* product of the axes' counts; 1 without axes */
    uint16_t base[PATTERN_MAX_PARAMETERS]; /* values of the other parameters */
    size_t width;                          /* number of parameters */
} sweep;

enum { SWEEP_MOST_ROWS = 100000 };

/* Reads --config and every --over. AT_USAGE; the message has the wrong parameter or value and the
 * right ones. The caller always calls sweep_deinit(). */
at_status sweep_init(script *s, const char *configuration, const script_setting *overs,
                     size_t over_count, sweep *out, at_error *error);
void sweep_deinit(sweep *w); /* `w` may be zeroed */

/* Writes the configuration of a row: `width` value indices. */
void sweep_row(const sweep *w, size_t row, uint16_t *indices);

/* Returns the position of a row along `axis`: an index into the axis' values. */
size_t sweep_position(const sweep *w, size_t row, size_t axis);

typedef struct inspect_row {
    bool valid;    /* no constraint is broken; if false, only `broken` is set */
    size_t broken; /* index of the first broken constraint */
    compile_outcome outcome;
    kernel_resources resources;
    int threads;         /* per block */
    size_t shared_bytes; /* per block, static and dynamic */
    occupancy occupancy;
    char *log; /* owned; the compiler's messages if the variant does not compile */
} inspect_row;

void inspect_row_deinit(inspect_row *row);

/* A change to the compilation of a variant. */
typedef struct inspect_change {
    unsigned most_registers; /* per thread, in place of the kernel's own limit; 0 for no change */
    bool shared_spills;      /* spill to shared memory first (CUDA 13) */
    bool want_ptx;
} inspect_change;

/* Queues the compilation of one configuration for `arch`, as request `id`, with `change`, which may
 * be NULL. Fills `launch`. *submitted is false if a constraint is broken (`row` says which), or if
 * `change` is impossible: a kernel with dynamic shared memory cannot spill to shared memory. */
at_status inspect_submit(script *s, problem_kind problem, const uint16_t *indices,
                         const arch_limits *arch, compile_pool *pool, uint64_t id,
                         const inspect_change *change, inspect_row *row, launch_plan *launch,
                         bool *submitted, at_error *error);

/* Fills the row from a result, and takes over the result's log. */
void inspect_take(compile_result *r, const arch_limits *arch, inspect_row *row);

/* Returns the bytes of spill stores and loads: the local memory traffic that the compiler added. */
uint32_t inspect_spill_bytes(const kernel_resources *r);

#endif
