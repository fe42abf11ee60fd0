#include "library/argument.h"

#include "base/error.h"
#include "record/record.h"

at_status argument_refuse_null(const char *function, const char *argument, at_error *error)
{
    error_clear(error);
    return error_set(error, AT_USAGE, "%s: the argument '%s' is NULL", function, argument);
}

at_status argument_check_problem(const char *function, const at_results *results,
                                 const char *pattern_name, const at_variable *problem, size_t count,
                                 at_error *error)
{
    if (!results || !pattern_name || (!problem && count > 0))
        return argument_refuse_null(function,
                                    !results        ? "results"
                                    : !pattern_name ? "pattern"
                                                    : "problem",
                                    error);
    error_clear(error);
    if (count > RECORD_MAX_VALUES)
        return error_set(error, AT_USAGE, "a problem has %d variables at most", RECORD_MAX_VALUES);
    for (size_t i = 0; i < count; i++) {
        const at_variable *v = &problem[i];
        if (!v->name)
            return error_set(error, AT_USAGE, "variable %zu of the problem has no name", i + 1);
        if ((unsigned)v->kind > AT_KIND_TEXT)
            return error_set(error, AT_USAGE,
                             "the problem's variable '%.80s' has a kind that does not exist (%d)",
                             v->name, (int)v->kind);
        if (v->kind == AT_KIND_TEXT && !v->text)
            return error_set(error, AT_USAGE,
                             "the problem's variable '%.80s' is a text that is NULL", v->name);
    }
    return AT_OK;
}

value argument_value(const at_variable *v)
{
    switch (v->kind) {
    case AT_KIND_NUMBER:
        return (value){.kind = VALUE_NUMBER, .number = v->number};
    case AT_KIND_BOOLEAN:
        return (value){.kind = VALUE_BOOLEAN, .boolean = v->integer != 0};
    case AT_KIND_TEXT:
        return (value){.kind = VALUE_STRING, .string = v->text};
    case AT_KIND_INTEGER:
        break;
    }
    return (value){.kind = VALUE_INTEGER, .integer = v->integer};
}
