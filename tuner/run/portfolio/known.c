#include "run/portfolio/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void known_init(known *k, const value *problems, size_t axis_count, size_t problem_count)
{
    *k = (known){.problems = memory_new(problem_count, sizeof *k->problems),
                 .problem_count = problem_count};
    for (size_t i = 0; i < problem_count; i++)
        k->problems[i].values = &problems[i * axis_count];
}

void known_values_add(record_values *values, const char *name, value v)
{
    record_pair *pair = &values->pairs[values->count++];
    *pair = (record_pair){.name = memory_text(name), .value = v};
    if (v.kind == VALUE_STRING)
        pair->value.string = memory_text(v.string);
}

void known_values_deinit(record_values *values)
{
    for (size_t i = 0; values->pairs && i < values->count; i++) {
        free((void *)(uintptr_t)values->pairs[i].name);
        if (values->pairs[i].value.kind == VALUE_STRING)
            free((void *)(uintptr_t)values->pairs[i].value.string);
    }
    free(values->pairs);
}

static void configuration_deinit(known_configuration *c)
{
    known_values_deinit(&c->values);
    free(c->text);
    free(c->found_fault);
    free(c->times_ns);
    free(c->possible);
}

void known_deinit(known *k)
{
    for (size_t i = 0; i < k->count; i++)
        configuration_deinit(&k->items[i]);
    for (size_t i = 0; k->problems && i < k->problem_count; i++)
        free(k->problems[i].left_out);
    free(k->problems);
    free(k->items);
    *k = (known){0};
}

static size_t place_of(const known *k, const char *text)
{
    size_t place = 0;
    while (place < k->count && strcmp(k->items[place].text, text) != 0)
        place++;
    return place;
}

static known_configuration *find(known *k, const run_summary *s, const run_result *r)
{
    size_t place = place_of(k, r->configuration);
    if (place < k->count)
        return &k->items[place];
    known_configuration c = {.text = memory_text(r->configuration),
                             .values.pairs = memory_new(s->parameter_count, sizeof *c.values.pairs),
                             .times_ns = memory_new(k->problem_count, sizeof *c.times_ns),
                             .possible = memory_new(k->problem_count, sizeof *c.possible)};
    memset(c.possible, -1, k->problem_count);
    for (size_t i = 0; i < s->parameter_count; i++)
        known_values_add(&c.values, s->parameters[i], r->values[i]);
    memory_add(&k->items, &k->count, &c, sizeof c);
    return &k->items[place];
}

/* Returns true for outcomes that are the variant's fault, not perhaps the machine's. */
static bool is_wrong(outcome o)
{
    return o == OUTCOME_WRONG_RESULT || o == OUTCOME_CRASHED || o == OUTCOME_TIMEOUT;
}

static void condemn(known_configuration *c, const run_result *r)
{
    if (!c->found_fault)
        c->found_fault =
            memory_text(r->found.message ? r->found.message : outcome_name(r->found.outcome));
}

static double time_of(const run_result *r, double fastest_ns)
{
    if (r->found.outcome != OUTCOME_OK || r->time.count == 0)
        return 0;
    return r->ratio > 0 && fastest_ns > 0 ? r->ratio * fastest_ns : (double)r->time.median_ns;
}

void known_learn(known *k, size_t problem, const run_summary *s, size_t most)
{
    known_problem *at = &k->problems[problem];
    double fastest_ns = 0;
    for (size_t i = 0; i < s->result_count; i++)
        if (s->results[i].ratio == 1 && s->results[i].time.count > 0)
            fastest_ns = (double)s->results[i].time.median_ns;
    at->best_ns = at->baseline_ns = 0;
    for (size_t i = 0; i < s->result_count; i++) {
        const run_result *r = &s->results[i];
        bool is_default = s->has_baseline && i == s->baseline, wrong = is_wrong(r->found.outcome);
        double time_ns = time_of(r, fastest_ns);
        if (is_default)
            at->baseline_ns = time_ns;
        if (time_ns > 0 && (at->best_ns == 0 || time_ns < at->best_ns))
            at->best_ns = time_ns;
        if (i >= most && !is_default && !wrong && place_of(k, r->configuration) == k->count)
            continue;
        known_configuration *c = find(k, s, r);
        c->times_ns[problem] = time_ns;
        if (wrong)
            condemn(c, r);
    }
}

bool known_fits(script *s, const char *text)
{
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    bool valid = false;
    size_t broken;
    return script_parse_configuration(s, text, indices, NULL) == AT_OK &&
           script_valid(s, PROBLEM_TUNED, indices, &valid, &broken, NULL) == AT_OK && valid;
}

void known_ask(known *k, size_t problem, size_t configuration, script *s)
{
    known_configuration *c = &k->items[configuration];
    if (c->possible[problem] < 0)
        c->possible[problem] = known_fits(s, c->text);
}

void known_leave_out(known *k, size_t problem, const char *why)
{
    free(k->problems[problem].left_out);
    k->problems[problem].left_out = memory_text(*why ? why : "no variant worked");
}

bool known_has_rank(const known *k, size_t configuration, size_t problem, size_t rank)
{
    double time_ns = k->items[configuration].times_ns[problem];
    size_t faster = 0;
    for (size_t i = 0; i < k->count; i++) {
        const known_configuration *c = &k->items[i];
        faster += c->times_ns[problem] > 0 && !c->found_fault && c->times_ns[problem] < time_ns;
    }
    return time_ns > 0 && faster == rank;
}
