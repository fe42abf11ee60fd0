/* Inspection: resources and occupancy of variants on architectures, found by compiling only.
 *
 * In: a script loaded for one architecture and a sweep. Out: a row for each configuration of the
 * sweep. Needs NVRTC and no GPU. */
#ifndef AUTOTUNE_CMD_SPACE_INSPECTION_H
#define AUTOTUNE_CMD_SPACE_INSPECTION_H

#include "base/error.h"
#include "cmd/space/sweep.h"
#include "compile/compile.h"
#include "device/arch.h"
#include "script/script.h"

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

/* Compiles every row of the sweep for `arch`; fills rows[sweep->row_count], which starts zeroed.
 * The caller frees each with inspect_row_deinit. */
at_status inspect_run(script *s, const sweep *w, const arch_limits *arch, compile_pool *pool,
                      inspect_row *rows, at_error *error);

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
