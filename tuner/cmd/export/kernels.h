/* The kernels of an exported .cu file.
 *
 * Input: records and the script. Output: the script's launch in C, and the source of every kernel
 * that a program may pick for the recorded problems (and those of --over), on a recorded GPU, on
 * similar GPUs and on others, with the conditions of its use. A portfolio's problems are a sample
 * of a range: only kernels that other problems of the range can use are exported for them.
 *
 * NVRTC makes the PTX of each source for the least capable device that uses the source, while
 * further sources are emitted. A source has no PTX if inline PTX cannot express it, if NVRTC
 * refuses it, or if there is no NVRTC; stderr says so. */
#ifndef AUTOTUNE_CMD_EXPORT_KERNELS_H
#define AUTOTUNE_CMD_EXPORT_KERNELS_H

#include "cmd/export/exported.h"
#include "cmd/line/options.h"
#include "compile/compile.h"
#include "report/progress.h"

/* The compilation of kernels; it serves one model after the other. */
typedef struct kernel_ptx {
    int jobs;           /* workers; 0: one per core */
    progress *shown;    /* owned; NULL: silent */
    compile_pool *pool; /* NULL until the first source is added */
    bool unavailable;   /* there is no NVRTC */
    size_t submitted, taken;
} kernel_ptx;

void kernel_ptx_deinit(kernel_ptx *k); /* accepts a zeroed one */

/* Adds launch and kernels to the model of `run->script`, which was loaded as `s`; `ptx` compiles
 * them. *problems must live as long as the model. AT_USAGE if --over is wrong or a file cannot hold
 * the pattern's kernels; AT_SCRIPT, AT_NO_MEMORY. */
at_status exported_kernels(const options *o, const settings *run, const record_set *records,
                           const script *s, export_model *m, kernel_problems *problems,
                           kernel_ptx *ptx, at_error *error);

#endif
