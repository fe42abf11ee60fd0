/* Sweeps over parameters, and the resources of variants, which compiling alone finds.
 *
 * A sweep comes from --over NAME=V1,V2,...,VN. "..." between two values stands for every value that
 * the parameter has between them; without values the sweep covers all values. Several sweeps span
 * their product; the first one varies slowest. Needs NVRTC and no GPU. */
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
    uint16_t base[PATTERN_MAX_PARAMETERS]; /* what is not swept */
    size_t width;                          /* parameters */
} sweep;

enum { SWEEP_MOST_ROWS = 100000 };

/* Reads --config and every --over. AT_USAGE names the wrong parameter or value and the right ones.
 * The caller calls sweep_deinit, also after a failure. */
at_status sweep_init(script *s, const char *configuration, const script_setting *overs,
                     size_t over_count, sweep *out, at_error *error);
void sweep_deinit(sweep *w);

/* The configuration of a row: fills `width` value indices. */
void sweep_row(const sweep *w, size_t row, uint16_t *indices);

/* The position of a row along `axis`: an index into its values. */
size_t sweep_position(const sweep *w, size_t row, size_t axis);

typedef struct inspect_row {
    bool valid;    /* no constraint is broken; else only `broken` is set */
    size_t broken; /* the first constraint that is */
    compile_outcome outcome;
    kernel_resources resources;
    int threads;         /* a block */
    size_t shared_bytes; /* static and dynamic, a block */
    occupancy occupancy;
    char *log; /* owned; of a variant that does not compile */
} inspect_row;

void inspect_row_deinit(inspect_row *row);

/* A change to how the pattern compiles a variant. */
typedef struct inspect_change {
    unsigned most_registers; /* a thread; instead of what the kernel says itself. 0: as it is */
    bool shared_spills;      /* spill to shared memory first (CUDA 13) */
    bool want_ptx;
} inspect_change;

/* Queues one configuration of the tuned problem as request `id`, compiled for `arch` with a change
 * (NULL: none). *submitted is false if a constraint is broken (the row says which), or if the
 * change cannot be made: a kernel with dynamic shared memory cannot spill there. Fills `launch`. */
at_status inspect_submit(script *s, problem_kind problem, const uint16_t *indices,
                         const arch_limits *arch, compile_pool *pool, uint64_t id,
                         const inspect_change *change, inspect_row *row, launch_plan *launch,
                         bool *submitted, at_error *error);

/* Fills the row from a result and takes its log. */
void inspect_take(compile_result *r, const arch_limits *arch, inspect_row *row);

/* Local memory traffic that the compiler added: bytes of spill stores and loads. */
uint32_t inspect_spill_bytes(const kernel_resources *r);

#endif
