/* Writes constraints, features, derived values and launches in C, for programs that pick and launch
 * a configuration without Lua. A launch's statements fill an autotune_plan with the launches of
 * script_launch_plan() and the sizes of buffers, by functions of templates/export/launches.h. They
 * set `*failed` where Lua would raise an error. */
#ifndef AUTOTUNE_SCRIPT_LAUNCH_C_H
#define AUTOTUNE_SCRIPT_LAUNCH_C_H

#include "script/expression/term.h"
#include "script/script.h"

typedef struct launch_c {
    char *statements; /* owned */
    size_t entry_count;
    const char *entries[PLAN_MAX_LAUNCHES]; /* names of kernels in the script; a launch has an index
                                               into this list */
    size_t buffer_count;
    const char *buffers[PLAN_MAX_BUFFERS];
    bool is_input[PLAN_MAX_BUFFERS];
    size_t constant_count;
    constant_plan constants[PLAN_MAX_CONSTANTS];
} launch_c;

/* Writes the statements of the launches. On AT_OK the caller frees out->statements; names are
 * borrowed from the script. AT_SCRIPT names an expression that has no C. AT_NO_MEMORY. */
at_status script_launch_c(const script *s, term_leaf spell, void *context, launch_c *out,
                          at_error *error);

/* Finds the kernel of each of launch->entries among the kernels of the configuration's plan, as
 * plan_entry_place() numbers them. places[i] is -1 if the plan does not launch entry i.
 * AT_SCRIPT. */
at_status script_entry_places(script *s, problem_kind problem, const uint16_t *indices,
                              const launch_plan *plan, const launch_c *launch,
                              int places[PLAN_MAX_LAUNCHES], at_error *error);

/* Writes a constraint. The caller frees *out, which is NULL if the constraint cannot be written in
 * C. AT_NO_MEMORY. */
at_status script_constraint_c(const script *s, size_t constraint, term_leaf spell, void *context,
                              char **out, at_error *error);

/* Writes a feature of the pattern in the given form, and its type. *out as for a constraint. */
at_status script_feature_c(const script *s, size_t feature, term_leaf spell, void *context,
                           c_text_form form, term_type *type, char **out, at_error *error);

/* Writes a derived value that other expressions call. `place` counts these values from 0, in an
 * order in which a value follows those that it reads. *name is borrowed, and NULL if `place` is too
 * large. The statements assign the value to form.target with the name appended. *out as for
 * script_constraint_c(). AT_NO_MEMORY. */
at_status script_derived_c(const script *s, size_t place, term_leaf spell, void *context,
                           c_text_form form, const char **name, term_type *type, char **out,
                           at_error *error);

#endif
