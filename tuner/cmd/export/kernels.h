/* The kernels of an exported .cu file.
 *
 * Input: records and the script. Output: the script's launch in C, and kernel sources with the
 * conditions of their use. A kernel is exported if a program on any GPU may pick it for a recorded
 * problem or a problem of --over. A portfolio's problems are only a sample of a range: their
 * kernels are exported only if other problems of the range can use them.
 *
 * NVRTC compiles each source to PTX for the lowest capability among its devices. A source has no
 * PTX if inline PTX cannot express it, or if NVRTC rejects it or is missing; stderr tells the
 * reason. */
#ifndef AUTOTUNE_CMD_EXPORT_KERNELS_H
#define AUTOTUNE_CMD_EXPORT_KERNELS_H

#include "cmd/export/exported.h"
#include "cmd/line/options.h"
#include "compile/compile.h"
#include "report/progress.h"

/* The compilation of kernels. Several models can use it in turn. */
typedef struct kernel_ptx {
    int jobs;           /* workers; 0 for one per core */
    progress *shown;    /* owned; NULL shows nothing */
    compile_pool *pool; /* NULL until the first source is added */
    bool unavailable;   /* there is no NVRTC */
    size_t submitted, taken;
} kernel_ptx;

void kernel_ptx_deinit(kernel_ptx *k); /* `k` may be zeroed */

/* Adds launch and kernels to the model of `run->script`, which was loaded as `s`. `ptx` compiles
 * the kernels. *problems must live as long as the model. AT_USAGE if --over is wrong or one file
 * cannot hold all kernels of the pattern; AT_SCRIPT, AT_NO_MEMORY. */
at_status exported_kernels(const options *o, const settings *run, const record_set *records,
                           const script *s, export_model *m, kernel_problems *problems,
                           kernel_ptx *ptx, at_error *error);

#endif
