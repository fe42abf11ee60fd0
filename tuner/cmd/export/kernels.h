/* The kernels of an exported .cu file.
 *
 * In: records and the script. Out: the script's launch in C, and the source of every kernel that
 * a program may pick for the recorded problems (and those of --over), on a recorded GPU, on similar
 * GPUs and on others, each with the conditions of its use. The problems that a portfolio was made
 * on are a sample of a range: only kernels that other problems of the range can use are exported
 * for them.
 *
 * NVRTC makes the PTX of each source, for the least capable device that uses the source. Several
 * workers compile while further sources are emitted. A source has no PTX if it cannot be written as
 * inline PTX, if NVRTC refuses it, or if there is no NVRTC; stderr says so. */
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

/* Adds launch and kernels to the model of the script `run->script`, which was loaded as `s`; `ptx`
 * compiles them. *problems must live as long as the model. AT_USAGE if --over is wrong, or if the
 * kernels of the pattern cannot be put into a file; AT_SCRIPT, AT_NO_MEMORY. */
at_status exported_kernels(const options *o, const settings *run, const record_set *records,
                           const script *s, export_model *m, kernel_problems *problems,
                           kernel_ptx *ptx, at_error *error);

#endif
