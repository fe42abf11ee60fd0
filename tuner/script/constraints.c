/* Tests constraints, makes the space of a problem, evaluates features, completes configurations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

typedef struct script_test {
    script *s;
    problem_kind problem;
    bool failed;        /* a test raised an error */
    work_budget budget; /* counts the work of the tests; no test stops when the budget is used up */
} script_test;

static at_status test_constraint(void *context, const space_question *question, bool *holds,
                                 at_error *error)
{
    script_test *test = context;
    at_status status =
        expression_test_each(test->s, &test->s->space.constraint_tests[question->constraint],
                             test->problem, question, &test->budget, holds, error);
    /* An interruption is no error of the constraint. */
    test->failed = test->failed || (status != AT_OK && status != AT_INTERRUPTED);
    return status;
}

at_status script_valid(script *s, problem_kind problem, const uint16_t *indices, bool *valid,
                       size_t *broken, at_error *error)
{
    *valid = true;
    for (size_t i = 0; i < s->pattern.constraint_count && *valid; i++) {
        at_status status =
            expression_test(s, &s->space.constraint_tests[i], problem, indices, valid, error);
        if (status || !*valid)
            *broken = i;
        if (status)
            return status;
    }
    return AT_OK;
}

at_status script_check_baseline(script *s, problem_kind problem, at_error *error)
{
    bool valid = true;
    size_t broken = 0;
    /* Ragged problems and --only may exclude the baseline. The tuned problem may not. */
    if (problem >= PROBLEM_RAGGED || s->space.has_only)
        return AT_OK;
    at_status status = script_valid(s, problem, s->pattern.baseline, &valid, &broken, error);
    if (status || valid)
        return status;
    char text[CONFIGURATION_BYTES];
    script_format_configuration(s, s->pattern.baseline, text, sizeof text);
    return error_set_at(error, AT_SCRIPT, s->from.path, s->space.constraint_tests[broken].line,
                        "the baseline (%s) breaks %s: \"%s\"", text,
                        s->space.constraint_tests[broken].what,
                        s->space.constraint_tests[broken].text);
}

bool script_constraint_varies(const script *s, size_t constraint)
{
    const expression *e = &s->space.constraint_tests[constraint];
    bool varies = e->device_fields != 0;
    for (size_t i = 0; i < e->input_count; i++)
        varies = varies || !e->inputs[i].is_parameter;
    return varies;
}

typedef struct feature_evaluation {
    const expression *feature;
    problem_kind problem;
    const uint16_t *indices;
    double value;
} feature_evaluation;

static int evaluate_feature(lua_State *L)
{
    feature_evaluation *e = lua_touserdata(L, 1);
    e->value = expression_number(L, e->feature, e->problem, e->indices);
    return 0;
}

at_status script_feature(script *s, problem_kind problem, size_t feature, const uint16_t *indices,
                         double *out, at_error *error)
{
    feature_evaluation e = {
        .feature = &s->features[feature], .problem = problem, .indices = indices, .value = 0};
    at_status status = sandbox_call(&s->box, evaluate_feature, &e, false, error);
    *out = e.value;
    return status;
}

size_t pattern_find_feature(const pattern *p, const char *name, const char *definition)
{
    for (size_t i = 0; i < p->feature_count; i++) {
        const pattern_feature *f = &p->features[i];
        if (strcmp(f->name, name) == 0 && strcmp(f->definition, definition) == 0)
            return i;
    }
    return SIZE_MAX;
}

/* limit of a space: strategies keep a few bytes for each configuration */
static const uint64_t most_configurations = UINT64_C(1) << 26;

typedef struct making {
    const script_space_limits *limits;
    script_test test;
    bool (*stop)(void *); /* the script's own function */
    void *stop_context;
} making;

static bool is_stopped(const making *m)
{
    return m->stop && m->stop(m->stop_context);
}

static bool is_over(void *context)
{
    making *m = context;
    return work_budget_is_over(&m->test.budget) || is_stopped(m);
}

/* Tells whether a tenth of the allowed work covered less than a ten thousandth of the space. */
static bool is_hopeless(const making *m, double share)
{
    return work_budget_share(&m->test.budget) > 0.1 && share < 1e-4;
}

static bool show_and_ask(void *context, const space_progress *progress)
{
    making *m = context;
    if (m->limits->show)
        m->limits->show(m->limits->show_context, progress);
    work_budget_look(&m->test.budget, progress->looked);
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

/* Finds the constraint that leaves no configuration. AT_NOT_FOUND if that takes too much work. */
static at_status find_emptying(script *s, script_test *test, const space_limits *limits,
                               size_t *constraint, at_error *error)
{
    /* With a limit of one configuration, the error for too many means that one is left. */
    space_limits one = *limits;
    one.most_configurations = 1;
    for (size_t count = 1; count <= s->pattern.constraint_count; count++) {
        space *partial = NULL;
        at_error ignored = {0};
        at_status status = space_new_limited(s->space.parameters, s->pattern.parameter_count,
                                             s->pattern.constraints, count, test_constraint, test,
                                             &one, &partial, &ignored);
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
    return error_set(error, AT_INTERNAL,
                     "the space is empty, although no constraint is false for all configurations");
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

static at_status make_space(script *s, making *m, space_limits *limits, space **out,
                            at_error *error)
{
    script_test *test = &m->test;
    work_budget_begin(&test->budget, m->limits->enumerate_s);
    at_status status =
        space_new_limited(s->space.parameters, s->pattern.parameter_count, s->pattern.constraints,
                          s->pattern.constraint_count, test_constraint, test, limits, out, error);
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
    work_budget_begin(&test->budget, m->limits->sample_s);
    status = space_sample(s->space.parameters, s->pattern.parameter_count, s->pattern.constraints,
                          s->pattern.constraint_count, test_constraint, test, limits,
                          m->limits->sample, has_baseline ? s->pattern.baseline : NULL, out, error);
    /* The space module does not know the script's path. A failed test has set it already. */
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
    /* After an interruption the space is incomplete. */
    if (is_stopped(&m)) {
        error_clear(error);
        status = error_set(error, AT_INTERRUPTED, "interrupted");
    }
    if (!status && space_count(made) == 0) {
        work_budget_begin(&m.test.budget, limits->sample_s);
        status = tell_empty(s, &m.test, &within, error);
    }
    end_making(&m);
    if (limits->timed_out)
        *limits->timed_out = m.test.budget.timed_out;
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

static const double MOST_S = 10;
static const size_t MOST_BYTES = (size_t)256 << 20;
enum { MOST_SAMPLED = 1 << 15 };

/* A space in which each held parameter has one value: index 0 here means held[i] in the script. */
typedef struct held_test {
    script_test test;
    const bool *is_held;
    const uint16_t *held;
} held_test;

static at_status test_held(void *context, const space_question *question, bool *holds,
                           at_error *error)
{
    held_test *h = context;
    uint16_t indices[SCRIPT_MAX_NAMES];
    space_question asked = *question;
    for (size_t i = 0; i < h->test.s->pattern.parameter_count; i++)
        indices[i] = h->is_held[i] ? h->held[i] : question->indices[i];
    asked.indices = indices;
    if (h->is_held[question->varied])
        asked.choices = &h->held[question->varied]; /* `count` is 1. */
    return test_constraint(&h->test, &asked, holds, error);
}

static bool is_late(void *context, const space_progress *progress)
{
    held_test *h = context;
    work_budget_look(&h->test.budget, progress->looked);
    return work_budget_is_over(&h->test.budget);
}

static at_status make_held_space(held_test *h, space **out, at_error *error)
{
    const script *s = h->test.s;
    space_parameter parameters[SCRIPT_MAX_NAMES];
    size_t count = s->pattern.parameter_count;
    for (size_t i = 0; i < count; i++) {
        parameters[i] = s->space.parameters[i];
        if (h->is_held[i]) {
            parameters[i].values += h->held[i];
            parameters[i].value_count = 1;
        }
    }
    space_limits limits = {.memory_bytes = MOST_BYTES,
                           .stop = is_late,
                           .stop_context = h,
                           .most_configurations = UINT64_C(1) << 22};
    work_budget_begin(&h->test.budget, MOST_S);
    at_status status =
        space_new_limited(parameters, count, s->pattern.constraints, s->pattern.constraint_count,
                          test_held, h, &limits, out, error);
    if (status != AT_INTERRUPTED && (status != AT_SCRIPT || h->test.failed))
        return status;
    error_clear(error);
    work_budget_begin(&h->test.budget, MOST_S);
    return space_sample(parameters, count, s->pattern.constraints, s->pattern.constraint_count,
                        test_held, h, &limits, MOST_SAMPLED, NULL, out, error);
}

/* The number of parameters in which two configurations differ; steps between values decide ties. */
typedef struct distance {
    size_t parameters, steps;
} distance;

static distance distance_of(const held_test *h, const bool *is_swept, const uint16_t *from,
                            const uint16_t *to)
{
    distance d = {0, 0};
    for (size_t i = 0; i < h->test.s->pattern.parameter_count; i++) {
        if (h->is_held[i] || (is_swept && is_swept[i]) || from[i] == to[i])
            continue;
        d.parameters++;
        d.steps += (size_t)abs((int)from[i] - (int)to[i]);
    }
    return d;
}

at_status script_oracle_configuration(script *s, problem_kind problem, uint16_t *indices,
                                      bool *found, at_error *error)
{
    const pattern *p = &s->pattern;
    bool in_layout[SCRIPT_MAX_NAMES] = {false}, changed;
    const size_t layout = script_layout_of(s, indices);
    size_t broken;
    memcpy(indices, p->baseline, p->parameter_count * sizeof *indices);
    script_set_layout(s, layout, indices);
    for (size_t i = 0; i < s->space.layout_count; i++)
        in_layout[s->space.layout[i]] = true;
    at_status status = script_valid(s, problem, indices, found, &broken, error);
    if (status || *found)
        return status;
    status = script_complete_configuration(s, problem, in_layout, NULL, indices, &changed, error);
    *found = changed;
    return status;
}

at_status script_complete_configuration(script *s, problem_kind problem, const bool *is_given,
                                        const bool *is_swept, uint16_t *indices, bool *changed,
                                        at_error *error)
{
    bool valid;
    size_t broken, width = s->pattern.parameter_count;
    space *sp = NULL;
    uint16_t nearest[SCRIPT_MAX_NAMES], one[SCRIPT_MAX_NAMES];
    distance least = {SIZE_MAX, SIZE_MAX};
    held_test h = {.test = {.s = s, .problem = problem}, .is_held = is_given, .held = indices};
    *changed = false;
    at_status status = script_valid(s, problem, indices, &valid, &broken, error);
    if (!status && !valid)
        status = make_held_space(&h, &sp, error);
    for (uint64_t i = 0; !status && sp && i < space_count(sp); i++) {
        space_at(sp, i, one);
        for (size_t k = 0; k < width; k++)
            one[k] = is_given[k] ? indices[k] : one[k];
        distance d = distance_of(&h, is_swept, indices, one);
        if (d.parameters > least.parameters ||
            (d.parameters == least.parameters && d.steps >= least.steps))
            continue;
        least = d;
        memcpy(nearest, one, width * sizeof *one);
        *changed = true;
    }
    if (*changed)
        memcpy(indices, nearest, width * sizeof *nearest);
    space_free(sp);
    return status;
}
