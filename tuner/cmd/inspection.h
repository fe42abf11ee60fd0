/* Inspection: resources and occupancy of variants on architectures, by compiling alone.
 *
 * In: a script loaded for one architecture and a sweep. Out: a row for each configuration of the
 * sweep. Needs NVRTC and no GPU. */
#ifndef AUTOTUNE_CMD_INSPECTION_H
#define AUTOTUNE_CMD_INSPECTION_H

#include "device/arch.h"
#include "compile/compile.h"
#include "base/error.h"
#include "script/script.h"
#include "cmd/sweep.h"

typedef struct inspect_row {
    bool valid;             /* no constraint is broken; else nothing below is set but `broken` */
    size_t broken;          /* the first constraint that is */
    compile_outcome outcome;
    kernel_resources resources;
    int threads;            /* a block */
    size_t shared_bytes;    /* static and dynamic, a block */
    occupancy occupancy;
    char *log;              /* owned; of a variant that does not compile */
} inspect_row;

/* Compiles every row of the sweep for `arch`; fills rows[sweep->row_count], which starts zeroed.
 * The caller frees each with inspect_row_deinit. */
at_status inspect_run(script *s, const sweep *w, const arch_limits *arch, compile_pool *pool,
                      inspect_row *rows, at_error *error);

void inspect_row_deinit(inspect_row *row);

/* Local memory traffic that the compiler added: bytes of spill stores and loads. */
uint32_t inspect_spill_bytes(const kernel_resources *r);

#endif
