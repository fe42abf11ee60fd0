/* Turns a choice for a target device into machine code: the best valid configuration, its source,
 * its plans and its cubin. Needs no CUDA driver, so that it can be tested without a GPU; kernel.c
 * loads the result. */
#ifndef AUTOTUNE_LIBRARY_SOURCE_H
#define AUTOTUNE_LIBRARY_SOURCE_H

#include "device/arch.h"
#include "device/plan.h"
#include "library/library.h"
#include "script/emit.h"

typedef struct library_source {
    pick_rule rule;
    char text[LIBRARY_TEXT_BYTES]; /* text of the configuration */
    emitted variant;               /* without valid `options`, which belong to the freed script */
    launch_plan launch;
    problem_plan problem;
    char *symbols;        /* names of the kernels in the cubin (plan_symbol()); owned */
    unsigned char *cubin; /* owned */
    size_t cubin_bytes;
} library_source;

/* Loads the script, picks a possible configuration, emits and compiles it. Errors as at_prepare().
 * After AT_OK the caller calls library_source_deinit(). */
at_status library_source_init(library_source *out, const at_choice *c,
                              const at_kernel_options *options, const arch_limits *limits,
                              const char *arch, at_error *error);
void library_source_deinit(library_source *s);

#endif
