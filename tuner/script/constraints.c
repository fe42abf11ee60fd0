/* The space of a script: constraints as the space module asks for them. */
#include <stdio.h>

#include "script/state.h"

/* Strategies keep a few bytes for each configuration. */
static const uint64_t most_configurations = UINT64_C(1) << 26;

bool script_constraint_varies(const script *s, size_t constraint)
{
    const expression *e = &s->space.constraint_tests[constraint];
    bool varies = e->device_fields != 0;
    for (size_t i = 0; i < e->input_count; i++)
        varies = varies || !e->inputs[i].is_parameter;
    return varies;
}

/* The making of one space: what it is made within. */
typedef struct making {
    const script_space_limits *limits;
    script_test test;
    bool (*stop)(void *); /* the script's own, asked as well */
    void *stop_context;
} making;

static bool is_stopped(const making *m)
{
    return m->stop && m->stop(m->stop_context);
}

static bool is_over(void *context)
{
    making *m = context;
    return patience_is_over(&m->test.patience) || is_stopped(m);
}

/* A tenth of the work has brought less than a ten thousandth of the way. */
static bool is_hopeless(const making *m, double share)
{
    return patience_share(&m->test.patience) > 0.1 && share < 1e-4;
}

static bool show_and_ask(void *context, const space_progress *progress)
{
    making *m = context;
    if (m->limits->show)
        m->limits->show(m->limits->show_context, progress);
    patience_look(&m->test.patience, progress->looked);
    return is_over(context) || (!progress->sampling && is_hopeless(m, progress->share));
}

static void begin_making(making *m)
{
    sandbox *box = &m->test.s->box;
    m->stop = box->stop;
    m->stop_context = box->stop_context;
    box->stop = is_over;
    box->stop_context = m;
}

static void end_making(const making *m)
{
    sandbox *box = &m->test.s->box;
    box->stop = m->stop;
    box->stop_context = m->stop_context;
}

/* AT_NOT_FOUND: it would have been too much work to find out. */
static at_status find_emptying(script *s, script_test *test, const space_limits *limits,
                               size_t *constraint, at_error *error)
{
    /* A limit of one valid configuration: more than that is an error, and not empty. */
    space_limits one = *limits;
    one.most_configurations = 1;
    for (size_t count = 1; count <= s->pattern.constraint_count; count++) {
        space *partial = NULL;
        at_error ignored = {0};
        at_status status = space_new_within(s->space.parameters, s->pattern.parameter_count,
                                            s->pattern.constraints, count, script_test_constraint,
                                            test, &one, &partial, &ignored);
        bool empty = status == AT_OK && space_count(partial) == 0;
        if (status == AT_OK)
            space_free(partial);
        if (status == AT_INTERRUPTED)
            return AT_NOT_FOUND;
        if (test->failed || status == AT_NO_MEMORY) {
            *error = ignored;
            return status;
        }
        if (empty) {
            *constraint = count - 1;
            return AT_OK;
        }
    }
    return error_set(error, AT_INTERNAL, "the space is empty, but no constraint emptied it");
}

static at_status tell_empty(script *s, script_test *test, const space_limits *limits,
                            at_error *error)
{
    size_t last = 0;
    at_status status = find_emptying(s, test, limits, &last, error);
    if (status == AT_NOT_FOUND)
        return error_set_at(error, AT_SCRIPT, s->from.path, 0,
                            "the space is empty: the constraints leave no configuration");
    if (status)
        return status;
    return error_set_at(error, AT_SCRIPT, s->from.path, s->space.constraint_tests[last].line,
                        "the space is empty: no configuration is left after %s: \"%s\"",
                        s->space.constraint_tests[last].what, s->space.constraint_tests[last].text);
}

/* The whole space, or a sample of it when it is beyond the limits. */
static at_status make_space(script *s, making *m, space_limits *limits, space **out,
                            at_error *error)
{
    script_test *test = &m->test;
    patience_begin(&test->patience, m->limits->enumerate_s);
    at_status status = space_new_within(s->space.parameters, s->pattern.parameter_count,
                                        s->pattern.constraints, s->pattern.constraint_count,
                                        script_test_constraint, test, limits, out, error);
    bool beyond = status == AT_INTERRUPTED || (status == AT_SCRIPT && !test->failed);
    if (!beyond)
        return status;
    error_clear(error);
    bool has_baseline = test->problem < PROBLEM_RAGGED && !s->space.has_only;
    end_making(m);
    status = script_check_baseline(s, test->problem, error);
    begin_making(m);
    if (status)
        return status;
    patience_begin(&test->patience, m->limits->sample_s);
    status = space_sample(s->space.parameters, s->pattern.parameter_count, s->pattern.constraints,
                          s->pattern.constraint_count, script_test_constraint, test, limits,
                          m->limits->sample, has_baseline ? s->pattern.baseline : NULL, out, error);
    /* The space knows no file; a test that failed has named it. */
    if (error && status == AT_SCRIPT && !test->failed)
        snprintf(error->file, sizeof error->file, "%s", s->from.path);
    return status;
}

script_space_limits script_space_defaults(void)
{
    return (script_space_limits){.enumerate_s = 30,
                                 .sample_s = 10,
                                 .memory_bytes = (size_t)512 << 20,
                                 .sample = UINT64_C(1) << 16};
}

at_status script_space_within(script *s, problem_kind problem, const script_space_limits *limits,
                              space **out, at_error *error)
{
    *out = NULL;
    space *made = NULL;
    making m = {.limits = limits, .test = {.s = s, .problem = problem}};
    begin_making(&m);
    space_limits within = {.most_configurations = most_configurations,
                           .memory_bytes = limits->memory_bytes,
                           .stop = show_and_ask,
                           .stop_context = &m};
    at_status status = make_space(s, &m, &within, &made, error);
    /* Which is another reason than work and memory, and leaves a space that is cut short. */
    if (is_stopped(&m)) {
        error_clear(error);
        status = error_set(error, AT_INTERRUPTED, "interrupted");
    }
    if (!status && space_count(made) == 0) {
        patience_begin(&m.test.patience, limits->sample_s);
        status = tell_empty(s, &m.test, &within, error);
    }
    end_making(&m);
    if (limits->timed_out)
        *limits->timed_out = m.test.patience.timed_out;
    if (!status)
        status = script_check_baseline(s, problem, error);
    if (status)
        space_free(made);
    else
        *out = made;
    return status;
}

at_status script_space(script *s, problem_kind problem, space **out, at_error *error)
{
    script_space_limits limits = script_space_defaults();
    return script_space_within(s, problem, &limits, out, error);
}
