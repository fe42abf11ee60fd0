/* The PTX of exported kernels: NVRTC makes it of each source, for the least capable device that
 * uses it.
 *
 * Sources are compiled by several workers while further ones are emitted. One that cannot be
 * written as PTX is left with its text alone. So is one that NVRTC does not compile, and so are all
 * where there is no NVRTC: stderr says that. */
#ifndef AUTOTUNE_CMD_EXPORT_KERNEL_PTX_H
#define AUTOTUNE_CMD_EXPORT_KERNEL_PTX_H

#include <stdbool.h>
#include <stddef.h>

#include "compile/compile.h"
#include "device/plan.h"
#include "export/kernels.h"
#include "report/progress.h"
#include "script/emit.h"

/* Serves one model after the other. */
typedef struct kernel_ptx {
    int jobs;           /* workers; 0: as many as cores */
    progress *shown;    /* owned; NULL: silent */
    compile_pool *pool; /* NULL: not opened yet */
    bool unavailable;   /* there is no NVRTC */
    size_t submitted, taken;
} kernel_ptx;

/* Has the source at `place` compiled for a capability, as 90, unless that is done for a lesser one.
 * `name` is its file in messages. Errors are those of compile_pool_new() and compile_submit(). */
at_status kernel_ptx_add(kernel_ptx *k, export_kernels *kernels, size_t place,
                         const emitted *variant, const char *name, const launch_plan *plan,
                         int capability, at_error *error);

/* Waits for all, and gives each source its kernels: the model has no more sources. AT_NO_MEMORY, or
 * as compile_take(). */
at_status kernel_ptx_finish(kernel_ptx *k, const export_launch *launch, export_kernels *kernels,
                            at_error *error);

void kernel_ptx_deinit(kernel_ptx *k); /* a zeroed one is fine */

#endif
