/* A few values of a configuration, and the nearest valid one that has them. */
#include <stdlib.h>
#include <string.h>

#include "script/state.h"

/* The limit is short, for someone waits. */
static const double MOST_S = 10;
static const size_t MOST_BYTES = (size_t)256 << 20;
enum { MOST_SAMPLED = 1 << 15 };

/* The space in which each held parameter has its one value: index 0 there, `held` here. */
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
        asked.choices = &h->held[question->varied]; /* it has one value: count is 1 */
    return script_test_constraint(&h->test, &asked, holds, error);
}

static bool is_late(void *context, const space_progress *progress)
{
    held_test *h = context;
    patience_look(&h->test.patience, progress->looked);
    return patience_is_over(&h->test.patience);
}

/* Makes the space, or a sample if it is beyond the limits. */
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
    patience_begin(&h->test.patience, MOST_S);
    at_status status =
        space_new_within(parameters, count, s->pattern.constraints, s->pattern.constraint_count,
                         test_held, h, &limits, out, error);
    if (status != AT_INTERRUPTED && (status != AT_SCRIPT || h->test.failed))
        return status;
    error_clear(error);
    patience_begin(&h->test.patience, MOST_S);
    return space_sample(parameters, count, s->pattern.constraints, s->pattern.constraint_count,
                        test_held, h, &limits, MOST_SAMPLED, NULL, out, error);
}

/* How far one configuration is from another: how many parameters differ, then by how many
 * values. */
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
