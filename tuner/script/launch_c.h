/* Launches in C: for programs that launch a configuration without Lua.
 *
 * In: a loaded script and how its names are spelt in C. Out: C statements that evaluate what a
 * configuration launches (as script_launch_plan() does) and how large its buffers are, into an
 * autotune_plan (export/launch.c, which has the functions that they call). Where Lua would raise an
 * error they set `*failed`. */
#ifndef AUTOTUNE_SCRIPT_LAUNCH_C_H
#define AUTOTUNE_SCRIPT_LAUNCH_C_H

#include "script/constraint_c.h"

typedef struct launch_c {
    char *statements; /* owned */
    size_t entry_count;
    const char *entries[PLAN_MAX_LAUNCHES]; /* names of kernels; a launch names its place */
    size_t buffer_count;
    const char *buffers[PLAN_MAX_BUFFERS];
    bool is_input[PLAN_MAX_BUFFERS];
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
} launch_c;

/* *out borrows names from the script; its statements are the caller's on AT_OK. AT_SCRIPT naming
 * the expression that cannot be translated to C, AT_NO_MEMORY. */
at_status script_launch_c(const script *s, c_spelling spell, void *context, launch_c *out,
                          at_error *error);

#endif
