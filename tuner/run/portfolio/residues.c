#include "run/portfolio/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "run/setup/setup.h"

enum {
    ASKED = 512,     /* configurations to ask about, from all parts of the space */
    ALWAYS = 32,     /* divisors up to this always count: vectors, sectors, cache lines */
    MOST_HALVED = 10 /* how often the range is halved until the script accepts a problem */
};

static const double enumerate_s = 2, sample_s = 1;

/* Ascending, as the divisors of an axis. */
static const struct {
    int64_t power, prime;
} powers[] = {{2, 2}, {3, 3}, {4, 2}, {5, 5}, {7, 7}, {8, 2}, {9, 3}, {16, 2}, {32, 2}, {64, 2}};

void residues_settings(const settings *base, const portfolio_axis *axes, size_t axis_count,
                       const value *problem, residues_problem *out)
{
    out->settings = *base;
    for (size_t a = 0;
         a < axis_count && out->settings.pattern.variable_count < SETTINGS_MAX_VARIABLES; a++) {
        value_format(problem[a], out->texts[a], sizeof out->texts[a]);
        out->settings.pattern.variables[out->settings.pattern.variable_count++] =
            (script_setting){.name = axes[a].name, .text = out->texts[a]};
    }
}

at_status residues_load(const settings *base, const arch_limits *limits, const portfolio_axis *axes,
                        size_t axis_count, const value *problem, script **out, at_error *error)
{
    residues_problem at;
    *out = NULL;
    residues_settings(base, axes, axis_count, problem, &at);
    return target_load_script(&at.settings, limits, out, error);
}

/* Returns the most divisible number of the range: a large power of two, times small primes. */
static int64_t most_divisible(const portfolio_axis *axis)
{
    for (int64_t odd = 315; odd > 1; odd /= 3) {
        int64_t v = odd;
        while (v <= axis->most / 2)
            v *= 2;
        if (v >= axis->least && v % 64 == 0 && v <= axis->most)
            return v;
    }
    int64_t v = 1;
    while (v <= axis->most / 2)
        v *= 2;
    return v >= axis->least ? v : axis->most;
}

/* The configurations, as texts, that are possible for the problem with the most divisors. */
typedef struct questions {
    char *texts[ASKED];
    size_t count;
} questions;

static void collect(script *s, questions *out)
{
    script_space_limits within = script_space_defaults();
    space *all = NULL;
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    within.enumerate_s = enumerate_s;
    within.sample_s = sample_s;
    /* A problem without configurations leads to no questions. */
    at_status status = script_space_within(s, PROBLEM_TUNED, &within, &all, NULL);
    uint64_t count = status ? 0 : space_count(all);
    out->count = count < ASKED ? (size_t)count : ASKED;
    for (size_t i = 0; i < out->count; i++) {
        char text[CONFIGURATION_BYTES];
        space_at(all, count / out->count * i, indices);
        script_format_configuration(s, indices, text, sizeof text);
        out->texts[i] = memory_text(text);
    }
    space_free(all);
}

/* Finds out which configurations a problem allows. An invalid problem allows none. */
static void ask(const settings *base, const arch_limits *limits, const portfolio_axis *axes,
                size_t axis_count, const value *problem, const questions *q, bool answers[ASKED])
{
    script *s;
    memset(answers, 0, ASKED * sizeof *answers);
    if (residues_load(base, limits, axes, axis_count, problem, &s, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < q->count; i++)
        answers[i] = known_fits(s, q->texts[i]);
    script_free(s);
}

static bool is_prime(int64_t v)
{
    for (int64_t d = 2; d * d <= v; d++)
        if (v % d == 0)
            return false;
    return true;
}

/* Returns a number near `v` with as many factors of `prime` as `power` has, or 0 if the range lacks
 * such a number. A prime above 7 replaces the lost factors, because it divides no divisor of
 * interest. */
static int64_t with_power(const portfolio_axis *axis, int64_t v, int64_t prime, int64_t power)
{
    int64_t rest = v, lost;
    while (rest % prime == 0)
        rest /= prime;
    lost = v / rest / power;
    if (v / rest % power != 0)
        return 0;
    for (int64_t p = lost > 1 ? lost : 1; p > 0; p--)
        if (p == 1 || (p > 7 && is_prime(p)))
            return rest * power * p >= axis->least ? rest * power * p : 0;
    return 0;
}

static void find_axis(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                      size_t axis_count, size_t at, const value *middle, const questions *q)
{
    portfolio_axis *axis = &axes[at];
    value problem[PORTFOLIO_MAX_AXES];
    bool with[ASKED], without[ASKED];
    memcpy(problem, middle, axis_count * sizeof *problem);
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        int64_t v = middle[at].integer, power = powers[i].power, prime = powers[i].prime;
        int64_t a = with_power(axis, v, prime, power),
                b = with_power(axis, v, prime, power / prime);
        if (!a || !b || a == b)
            continue;
        problem[at].integer = a;
        ask(base, limits, axes, axis_count, problem, q, with);
        problem[at].integer = b;
        ask(base, limits, axes, axis_count, problem, q, without);
        if ((prime == 2 && power <= ALWAYS) || memcmp(with, without, sizeof with) != 0)
            axis->divisors[axis->divisor_count++] = power;
    }
}

/* Loads the script for the problem with the most divisors. If the script refuses the problem, tries
 * again with half the largest sizes. */
static at_status load_middle(const settings *base, const arch_limits *limits,
                             const portfolio_axis *axes, size_t axis_count, value *middle,
                             script **out, at_error *error)
{
    at_status status = AT_USAGE;
    for (int halved = 0; status == AT_USAGE && halved < MOST_HALVED; halved++) {
        for (size_t a = 0; a < axis_count; a++) {
            portfolio_axis smaller = axes[a];
            smaller.most >>= halved;
            if (axes[a].value_count)
                middle[a] = axes[a].values[0];
            else if (smaller.most >= smaller.least)
                middle[a] = (value){.kind = VALUE_INTEGER, .integer = most_divisible(&smaller)};
        }
        error_clear(error);
        status = residues_load(base, limits, axes, axis_count, middle, out, error);
    }
    return status;
}

at_status residues_find(const settings *base, const arch_limits *limits, portfolio_axis *axes,
                        size_t axis_count, at_error *error)
{
    value middle[PORTFOLIO_MAX_AXES];
    script *s = NULL;
    questions q = {.count = 0};
    for (size_t a = 0; a < axis_count; a++)
        axes[a].divisor_count = 0;
    at_status status = load_middle(base, limits, axes, axis_count, middle, &s, error);
    if (!status)
        collect(s, &q);
    script_free(s);
    for (size_t a = 0; a < axis_count && !status; a++)
        if (!axes[a].value_count)
            find_axis(base, limits, axes, axis_count, a, middle, &q);
    for (size_t i = 0; i < q.count; i++)
        free(q.texts[i]);
    return status;
}
