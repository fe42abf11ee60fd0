/* Arguments that programs hand over: checked, and variables as values. */
#ifndef AUTOTUNE_LIBRARY_ARGUMENT_H
#define AUTOTUNE_LIBRARY_ARGUMENT_H

#include <stddef.h>

#include "autotune.h"
#include "base/value.h"

/* AT_USAGE: an argument that must not be NULL is. Clears the error first. */
at_status argument_refuse_null(const char *function, const char *argument, at_error *error);

/* Clears the error. AT_USAGE for a call of `function` without results, pattern or variables, and
 * for variables that are no problem: too many, or one without a name, a kind or its text. */
at_status argument_check_problem(const char *function, const at_results *results,
                                 const char *pattern_name, const at_variable *problem, size_t count,
                                 at_error *error);

/* A text is borrowed. The variable has a kind that exists. */
value argument_value(const at_variable *v);

#endif
