/* Turns a choice into machine code: the pattern's script, the variant's source, the cubin.
 *
 * In: a choice and the device it is for. Out: the best configuration that is valid for the choice's
 * problem, its source, its plans and its cubin. Needs no CUDA driver. */
#ifndef AUTOTUNE_LIBRARY_SOURCE_H
#define AUTOTUNE_LIBRARY_SOURCE_H

#include "device/arch.h"
#include "device/plan.h"
#include "library/library.h"
#include "script/emit.h"

typedef struct library_source {
    pick_rule rule;
    char text[LIBRARY_TEXT_BYTES]; /* of the configuration */
    emitted variant;               /* its options are not valid: the script is freed */
    launch_plan launch;
    problem_plan problem;
    char *symbols;        /* owned: the kernels' names in the cubin (plan_symbol()) */
    unsigned char *cubin; /* owned */
    size_t cubin_bytes;
} library_source;

/* Loads the script, picks what is possible, emits and compiles. Errors as at_prepare(). */
at_status library_source_init(library_source *out, const at_choice *c,
                              const at_kernel_options *options, const arch_limits *limits,
                              const char *arch, at_error *error);
void library_source_deinit(library_source *s);

#endif
