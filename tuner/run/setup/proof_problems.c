#include "run/setup/proof_problems.h"

#include <string.h>

#include "base/text.h"
#include "device/plan.h"
#include "run/setup/setup.h"

/* The most bytes of buffers of a problem that runs whole: for a problem that the script states as
 * small; for GROWTH_BRIEF, because every proof of a sum runs such problems; for other problems,
 * which may compute much more. */
static const uint64_t most_problem_bytes = 16u << 20, most_brief_bytes = 8u << 20,
                      most_tuned_bytes = 1u << 20;

/* Factors by which a problem grows so that a loop has two iterations. GROWTH_BLOCKS takes the first
 * of sampled_growth with which each buffer fits into offsets of 31 bits, and the baseline has a
 * launch. GROWTH_WHOLE takes WHOLE_GROWTH. */
static const int64_t sampled_growth[] = {32, 4, 2};
enum {
    WHOLE_GROWTH = 4,
    MOST_BRIEF_GROWTH = 4096,
    MOST_OF_A_KIND = PATTERN_MAX_LARGER / GROWTH_COUNT
};

/* Returns true for little work. A kernel that reads few bytes many times has much work. */
static bool is_quick(const problem_plan *plan, uint64_t most_bytes)
{
    enum { MOST_A_BYTE = 16 };
    for (int u = 0; u < WORK_UNITS; u++)
        if (plan_work(plan, (work_unit)u) / MOST_A_BYTE > most_bytes)
            return false;
    return true;
}

static void note(proof_problems *p, problem_kind kind, bool sampled)
{
    p->sampled[p->count] = sampled;
    p->kinds[p->count] = kind;
    p->count++;
}

static at_status add(proof_problems *p, script *s, problem_kind kind, uint64_t most_bytes,
                     bool *added, at_error *error)
{
    problem_plan plan;
    *added = false;
    at_status status = script_problem_plan(s, kind, NULL, 1, &plan, error);
    if (status || plan_problem_bytes(&plan) > most_bytes || !is_quick(&plan, most_bytes))
        return status;
    note(p, kind, false);
    *added = true;
    return AT_OK;
}

/* Finds out whether each prover can hold the tuned problem's data files. Unlike filled buffers,
 * which exist only where they are touched, files are read whole. */
static at_status files_fit(script *s, bool *fit, at_error *error)
{
    static const uint64_t most_bytes = UINT64_C(1) << 30;
    problem_plan plan;
    uint64_t bytes = 0;
    at_status status = script_problem_plan(s, PROBLEM_TUNED, NULL, 1, &plan, error);
    for (uint32_t i = 0; !status && i < plan.buffer_count; i++)
        if (plan.buffers[i].fill == FILL_FILE)
            bytes += plan_buffer_bytes(&plan.buffers[i]);
    *fit = bytes <= most_bytes;
    return status;
}

at_status proof_problems_choose(proof_problems *p, script *s, bool as_set, at_error *error)
{
    const uint64_t most_set_bytes = as_set ? most_problem_bytes : most_tuned_bytes;
    const struct {
        problem_kind kind;
        uint64_t most_bytes;
    } choices[] = {{PROBLEM_TUNED, most_tuned_bytes},
                   {PROBLEM_SIMULATED, most_set_bytes},
                   {PROBLEM_SMALL, most_problem_bytes},
                   {PROBLEM_TUNED, most_set_bytes},
                   {PROBLEM_SMALL, most_problem_bytes}};
    const pattern *described = script_pattern(s);
    const bool is_stated = described->has_problem[PROBLEM_SIMULATED];
    bool added = false;
    at_status status = AT_OK;
    for (size_t i = 0; !status && !added && i < sizeof choices / sizeof *choices; i++) {
        const bool is_last = i + 1 == sizeof choices / sizeof *choices;
        const problem_kind kind = choices[i].kind;
        if (described->has_problem[kind] && (kind != PROBLEM_SMALL || is_stated != is_last))
            status = add(p, s, kind, choices[i].most_bytes, &added, error);
        /* The last choice is a problem that the script does not state. If invalid, it is left
         * out. */
        if (is_last)
            status = error_ignore(status, AT_SCRIPT, error);
    }
    for (size_t i = 0; !status && i < described->ragged_count; i++) {
        const problem_kind kind = (problem_kind)(PROBLEM_RAGGED + i);
        status = add(p, s, kind, most_problem_bytes, &added, error);
        if (!status && !added)
            note(p, kind, true);
    }
    /* A captured launch has its own data, and no other problem exists. */
    p->none_whole = p->count == 0 && !described->is_captured;
    bool is_whole = false;
    for (size_t i = 0; i < p->count; i++)
        is_whole = is_whole || p->kinds[i] == PROBLEM_TUNED;
    bool fits = true;
    if (!status && !is_whole)
        status = files_fit(s, &fits, error);
    if (!status && !is_whole && fits)
        note(p, PROBLEM_TUNED, true);
    if (!status && p->count == 0)
        status = error_set(error, AT_USAGE,
                           "the pattern's data files are larger than 1 GiB, the limit of simulated "
                           "devices: give the script a smaller problem, simulated = { ... }, and "
                           "at.file(NAME, { head = true })");
    return status;
}

/* Makes the next problem from `base`, with a new value of a variable. Returns true to try it. */
static bool grow(proof_problems *p, script *s, problem_kind base, size_t variable, int64_t to,
                 proof_growth growth)
{
    const pattern *described = script_pattern(s);
    const problem_kind kind = (problem_kind)(PROBLEM_LARGER + growth * MOST_OF_A_KIND + p->count);
    pattern_variable values[PATTERN_MAX_VARIABLES];
    problem_plan first, plan;
    launch_plan launch;
    if (to > described->most[variable] || to > INT32_MAX)
        return false;
    memcpy(values, described->problems[base], described->problem_count * sizeof *values);
    values[variable].value.integer = to;
    if (script_set_problem(s, kind, values, described->problem_count, NULL) ||
        script_problem_plan(s, base, NULL, 1, &first, NULL) ||
        script_problem_plan(s, kind, NULL, 1, &plan, NULL) ||
        script_launch_plan(s, kind, described->baseline, &launch, NULL) ||
        plan_problem_bytes(&plan) <= plan_problem_bytes(&first))
        return false;
    for (uint32_t i = 0; i < plan.buffer_count; i++)
        if (plan_buffer_bytes(&plan.buffers[i]) > INT32_MAX)
            return false;
    const uint64_t most_bytes = p->brief ? most_brief_bytes : most_problem_bytes;
    if (growth != GROWTH_BLOCKS &&
        (plan_problem_bytes(&plan) > most_bytes || !is_quick(&plan, most_bytes)))
        return false;
    note(p, kind, growth == GROWTH_BLOCKS);
    return true;
}

static int64_t largest(const pattern *described, size_t variable)
{
    int64_t most = 0;
    for (int kind = 0; kind < PROBLEM_LARGER; kind++)
        if (described->problems[kind][variable].value.integer > most)
            most = described->problems[kind][variable].value.integer;
    return most;
}

/* Adds the largest problem up to the script's largest. This may take too long, so a problem of half
 * the growth comes first, if there is room. */
static void enlarge_briefly(proof_problems *p, script *s, problem_kind base, size_t variable,
                            int64_t most)
{
    const int64_t from = script_pattern(s)->problems[base][variable].value.integer;
    int64_t by = MOST_BRIEF_GROWTH, half = 1;
    while (by > 1 && from > most / by)
        by /= 2;
    while (half * half < by)
        half *= 2;
    if (half == by || p->count + 2 > MOST_OF_A_KIND ||
        !grow(p, s, base, variable, from * half, GROWTH_BRIEF))
        half = 1;
    while (by > half && !grow(p, s, base, variable, from * by, GROWTH_BRIEF))
        by /= 2;
}

static void enlarge(proof_problems *p, script *s, problem_kind base, size_t variable,
                    proof_growth growth)
{
    const pattern *described = script_pattern(s);
    const int64_t most = largest(described, variable),
                  from = described->problems[base][variable].value.integer;
    bool grown = false;
    if (most <= 0 || most > INT32_MAX)
        return;
    if (growth == GROWTH_WHOLE)
        grow(p, s, base, variable, from * WHOLE_GROWTH, growth);
    else if (growth == GROWTH_BRIEF)
        enlarge_briefly(p, s, base, variable, most);
    else
        for (size_t k = 0; !grown && k < 3; k++)
            grown = grow(p, s, base, variable, most * sampled_growth[k], growth);
}

bool proof_problems_within(const pattern *described, problem_kind kind)
{
    for (size_t i = 0; i < described->problem_count; i++) {
        const value *one = &described->problems[kind][i].value,
                    *tuned = &described->problems[PROBLEM_TUNED][i].value;
        if (one->kind == VALUE_INTEGER && one->integer > tuned->integer)
            return false;
    }
    return true;
}

void proof_problems_enlarge(proof_problems *p, script *s, problem_kind base, proof_growth growth)
{
    const pattern *described = script_pattern(s);
    p->brief = growth == GROWTH_BRIEF;
    for (size_t i = 0; i < described->problem_count && p->count < MOST_OF_A_KIND; i++)
        if (described->most[i] > 0)
            enlarge(p, s, base, i, growth);
}
