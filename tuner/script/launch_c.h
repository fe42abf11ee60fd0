/* Constraints, derived values and launches in C: for programs that pick and launch a configuration
 * without Lua.
 *
 * In: a loaded script and how its names are spelt in C. Out: the C statements of a launch. They
 * evaluate what a configuration launches (as script_launch_plan() does) and how large its buffers
 * are, into an autotune_plan (export/launch.c, which has the functions that they call). They set
 * `*failed` where Lua would raise an error. */
#ifndef AUTOTUNE_SCRIPT_LAUNCH_C_H
#define AUTOTUNE_SCRIPT_LAUNCH_C_H

#include "script/expression/term.h"
#include "script/script.h"

typedef struct launch_c {
    char *statements; /* owned */
    size_t entry_count;
    const char *entries[PLAN_MAX_LAUNCHES]; /* kernels, as the script has them; a launch names its
                                               place */
    size_t buffer_count;
    const char *buffers[PLAN_MAX_BUFFERS];
    bool is_input[PLAN_MAX_BUFFERS];
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
} launch_c;

/* *out borrows names from the script; its statements are the caller's on AT_OK. AT_SCRIPT naming
 * the expression that cannot be translated to C, AT_NO_MEMORY. */
at_status script_launch_c(const script *s, term_leaf spell, void *context, launch_c *out,
                          at_error *error);

/* Which of a plan's kernels, as plan_entry_place() numbers them, each of launch_c's entries is for
 * the configuration that the plan is of; -1: no launch of it is left. AT_SCRIPT. */
at_status script_entry_places(script *s, problem_kind problem, const uint16_t *indices,
                              const launch_plan *plan, const launch_c *launch,
                              int places[PLAN_MAX_LAUNCHES], at_error *error);

/* *out is owned by the caller; NULL when the constraint cannot be translated. AT_NO_MEMORY. */
at_status script_constraint_c(const script *s, size_t constraint, term_leaf spell, void *context,
                              char **out, at_error *error);

/* A feature of the pattern, of type *type, in this form; *out likewise. */
at_status script_feature_c(const script *s, size_t feature, term_leaf spell, void *context,
                           c_text_form form, term_type *type, char **out, at_error *error);

/* A derived value so long that its readers call it as a function: its name, borrowed, its type and
 * statements, owned by the caller, that give form.target with that name after it its value; *out is
 * NULL when it cannot be translated. `place` counts from 0; a value comes after those that
 * it reads; *name is NULL where there is no more. AT_NO_MEMORY. */
at_status script_derived_c(const script *s, size_t place, term_leaf spell, void *context,
                           c_text_form form, const char **name, term_type *type, char **out,
                           at_error *error);

#endif
