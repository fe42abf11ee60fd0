/* The space of a script: constraints as the space module asks for them. */
#include <stdio.h>

#include "script/state.h"

/* More take gigabytes and minutes to enumerate: no search space but a constraint forgotten. */
static const uint64_t most_configurations = UINT64_C(1) << 26;

static at_status find_emptying(script *s, script_test *test, size_t *constraint, at_error *error)
{
    for (size_t count = 1; count <= s->pattern.constraint_count; count++) {
        space *partial = NULL;
        at_error ignored = {0};
        /* A limit of one valid configuration: more than that is an error, and not empty. */
        at_status status =
            space_new(s->parameters, s->pattern.parameter_count, s->pattern.constraints, count,
                      script_test_constraint, test, 1, &partial, &ignored);
        bool empty = status == AT_OK && space_count(partial) == 0;
        space_free(partial);
        if (test->failed || status == AT_NO_MEMORY) {
            *error = ignored;
            return status;
        }
        if (empty) {
            *constraint = count - 1;
            return AT_OK;
        }
    }
    return error_set(error, AT_INTERNAL, "the space is empty for no constraint's sake");
}

static at_status check_baseline(script *s, const space *made, script_test *test, at_error *error)
{
    uint64_t index;
    if (space_find(made, s->pattern.baseline, &index))
        return AT_OK;
    bool valid;
    size_t broken = 0;
    at_status status = script_valid(s, test->problem, s->pattern.baseline, &valid, &broken, error);
    if (status)
        return status;
    char text[1024];
    script_format_configuration(s, s->pattern.baseline, text, sizeof text);
    return error_set_at(error, AT_SCRIPT, s->path, s->constraint_tests[broken].line,
                        "the baseline (%s) breaks %s: \"%s\"", text,
                        s->constraint_tests[broken].what, s->constraint_tests[broken].text);
}

at_status script_space(script *s, problem_kind problem, space **out, at_error *error)
{
    *out = NULL;
    script_test test = {.s = s, .problem = problem};
    space *made = NULL;
    at_status status = space_new(s->parameters, s->pattern.parameter_count, s->pattern.constraints,
                                 s->pattern.constraint_count, script_test_constraint, &test,
                                 most_configurations, &made, error);
    if (status) {
        /* The space knows no file; a test that failed has named it. */
        if (error && status == AT_SCRIPT && !test.failed)
            snprintf(error->file, sizeof error->file, "%s", s->path);
        goto cleanup;
    }
    if (space_count(made) == 0) {
        size_t last = 0;
        status = find_emptying(s, &test, &last, error);
        if (!status)
            status = error_set_at(error, AT_SCRIPT, s->path, s->constraint_tests[last].line,
                                  "the space is empty: no configuration is left after %s: \"%s\"",
                                  s->constraint_tests[last].what, s->constraint_tests[last].text);
        goto cleanup;
    }
    /* Edges may rule the baseline out; the problem that is tuned may not. */
    if (problem < PROBLEM_RAGGED)
        status = check_baseline(s, made, &test, error);
cleanup:
    if (status)
        space_free(made);
    else
        *out = made;
    return status;
}
