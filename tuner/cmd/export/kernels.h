/* The kernels of an exported .cu file.
 *
 * In: records and the script. Out: the script's launch in C, and the source of every kernel that
 * may be picked for the recorded problems (and those of --over), on any recorded GPU, on similar
 * ones and on others, each with its dependencies. The problems that portfolios were made on are a
 * sample of a range: of theirs there are only the kernels that others of the range can use, too. */
#ifndef AUTOTUNE_CMD_EXPORT_KERNELS_H
#define AUTOTUNE_CMD_EXPORT_KERNELS_H

#include "cmd/export/exported.h"
#include "cmd/export/kernel_ptx.h"
#include "cmd/line/options.h"

enum { KERNELS_MOST_PROBLEMS = 1000 };

/* The problems that kernels are made for; owned. Values borrow from the records, the script and
 * `texts`. */
typedef struct kernel_problems {
    size_t count, wanted; /* the first `wanted` are recorded or asked for */
    record_values *problems;
    size_t text_count;
    char **texts;
} kernel_problems;

/* Adds launch and kernels to the model of the script `run->script`, which was loaded as `s`; `ptx`
 * compiles them. *problems must live as long as the model. AT_USAGE if --over names a variable that
 * does not exist, or if the kernels of the pattern cannot be put into a file; AT_SCRIPT,
 * AT_NO_MEMORY. */
at_status exported_kernels(const options *o, const settings *run, const record_set *records,
                           const script *s, export_model *m, kernel_problems *problems,
                           kernel_ptx *ptx, at_error *error);
void kernel_problems_deinit(kernel_problems *p); /* a zeroed one is fine */

#endif
