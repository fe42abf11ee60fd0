#include "search/stopping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* A half of fewer evaluations does not predict the gain of further evaluations. */
static const uint64_t least_half = 50;

struct stopping_step {
    uint64_t evaluation; /* number of the evaluation, from 1 */
    double cost;
};

/* By the curves in search/README.md, `normal` brings the default strategy close to its final
 * result, `thorough` has several times as many evaluations, `quick` as many as its time allows. */
static const struct {
    const char *name;
    uint64_t evaluations; /* 0 means all configurations */
    double gain;
} efforts[EFFORTS] = {
    [EFFORT_QUICK] = {"quick", 240, 0},
    [EFFORT_NORMAL] = {"normal", 300, 0.01},
    [EFFORT_THOROUGH] = {"thorough", 2000, 0.001},
    [EFFORT_EXHAUSTIVE] = {"exhaustive", 0, 0},
};

void stopping_init(stopping *s, const stopping_limits *limits)
{
    *s = (stopping){.limits = *limits};
}

void stopping_deinit(stopping *s)
{
    free(s->steps);
    *s = (stopping){0};
}

void stopping_record(stopping *s, double cost)
{
    s->evaluations++;
    if (!isfinite(cost) || (s->step_count && cost >= s->steps[s->step_count - 1].cost))
        return;
    const struct stopping_step step = {.evaluation = s->evaluations, .cost = cost};
    memory_add(&s->steps, &s->step_count, &step, sizeof step);
}

static double best_after(const stopping *s, uint64_t evaluations)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->step_count && s->steps[i].evaluation <= evaluations; i++)
        best = s->steps[i].cost;
    return best;
}

static bool has_stalled(const stopping *s)
{
    uint64_t half = s->evaluations / 2;
    if (s->limits.gain <= 0 || half < least_half || s->step_count == 0)
        return false;
    double before = best_after(s, s->evaluations - half);
    double now = s->steps[s->step_count - 1].cost;
    return isfinite(before) && (before - now) / before < s->limits.gain;
}

uint64_t stopping_expected(const stopping *s)
{
    const uint64_t last = s->step_count ? s->steps[s->step_count - 1].evaluation : 0;
    uint64_t expected = 2 * (last > least_half ? last : least_half);
    return expected > s->evaluations ? expected : s->evaluations;
}

stop_reason stopping_check(const stopping *s, double elapsed_s)
{
    const stopping_limits *l = &s->limits;
    if (l->target_cost > 0 && s->step_count && s->steps[s->step_count - 1].cost <= l->target_cost)
        return STOP_TARGET;
    if (l->evaluations && s->evaluations >= l->evaluations)
        return STOP_EVALUATIONS;
    if (l->seconds > 0 && elapsed_s >= l->seconds)
        return STOP_SECONDS;
    return has_stalled(s) ? STOP_GAIN : STOP_NONE;
}

const char *effort_name(effort e)
{
    return efforts[e].name;
}

at_status effort_find(const char *name, effort *out, at_error *error)
{
    const char *names[EFFORTS];
    for (size_t i = 0; i < EFFORTS; i++) {
        names[i] = efforts[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = (effort)i;
            return AT_OK;
        }
    }
    const char *nearest = nearest_name(name, names, EFFORTS);
    return error_set(error, AT_USAGE, "there is no effort '%s': %s%s%s", name,
                     nearest ? "did you mean " : "quick, normal, thorough or exhaustive",
                     nearest ? nearest : "", nearest ? "?" : "");
}

stopping_limits effort_limits(effort e, uint64_t space_count)
{
    uint64_t evaluations = efforts[e].evaluations;
    if (evaluations == 0 || evaluations > space_count)
        evaluations = space_count;
    return (stopping_limits){.evaluations = evaluations, .gain = efforts[e].gain};
}
