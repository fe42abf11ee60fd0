#include "run/portfolio/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

at_status known_no_memory(at_error *error)
{
    return error_set(error, AT_NO_MEMORY, "out of memory");
}

at_status known_init(known *k, const value *problems, size_t axis_count, size_t problem_count,
                     at_error *error)
{
    *k = (known){.problems = calloc(problem_count + 1, sizeof *k->problems)};
    if (!k->problems)
        return known_no_memory(error);
    k->problem_count = problem_count;
    for (size_t i = 0; i < problem_count; i++)
        k->problems[i].values = &problems[i * axis_count];
    return AT_OK;
}

bool known_values_add(record_values *values, const char *name, value v)
{
    record_pair *pair = &values->pairs[values->count++];
    *pair = (record_pair){.name = strdup(name), .value = v};
    if (v.kind == VALUE_STRING)
        pair->value.string = strdup(v.string);
    return pair->name && (v.kind != VALUE_STRING || pair->value.string);
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
    free(c->condemned);
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

/* k->count: it is new. */
static size_t place_of(const known *k, const char *text)
{
    size_t place = 0;
    while (place < k->count && strcmp(k->items[place].text, text) != 0)
        place++;
    return place;
}

/* The place of a configuration; added when it is new. */
static at_status find(known *k, const char *text, const char *const *names, const value *values,
                      size_t count, size_t *place, at_error *error)
{
    *place = place_of(k, text);
    if (*place < k->count)
        return AT_OK;
    known_configuration *items = array_grow(k->items, k->count, sizeof *items);
    if (!items)
        return known_no_memory(error);
    k->items = items;
    known_configuration *c = &items[k->count++];
    *c = (known_configuration){.text = strdup(text),
                               .values.pairs = calloc(count + 1, sizeof *c->values.pairs),
                               .times_ns = calloc(k->problem_count + 1, sizeof *c->times_ns),
                               .possible = malloc(k->problem_count + 1)};
    bool whole = c->text && c->values.pairs && c->times_ns && c->possible;
    if (c->possible)
        memset(c->possible, -1, k->problem_count + 1);
    for (size_t i = 0; i < count && whole; i++)
        whole = known_values_add(&c->values, names[i], values[i]);
    return whole ? AT_OK : known_no_memory(error);
}

/* A machine may be to blame for the others. */
static bool is_wrong(outcome o)
{
    return o == OUTCOME_WRONG_RESULT || o == OUTCOME_CRASHED || o == OUTCOME_TIMEOUT;
}

static at_status condemn(known_configuration *c, const run_result *r, at_error *error)
{
    if (!c->condemned)
        c->condemned = strdup(r->found.message ? r->found.message : outcome_name(r->found.outcome));
    return c->condemned ? AT_OK : known_no_memory(error);
}

static double time_of(const run_result *r, double fastest_ns)
{
    if (r->found.outcome != OUTCOME_OK || r->time.count == 0)
        return 0;
    return r->ratio > 0 && fastest_ns > 0 ? r->ratio * fastest_ns : (double)r->time.median_ns;
}

at_status known_learn(known *k, size_t problem, const run_summary *s, size_t most, at_error *error)
{
    known_problem *at = &k->problems[problem];
    double fastest_ns = 0;
    at_status status = AT_OK;
    for (size_t i = 0; i < s->result_count; i++)
        if (s->results[i].ratio == 1 && s->results[i].time.count > 0)
            fastest_ns = (double)s->results[i].time.median_ns;
    at->best_ns = at->baseline_ns = 0;
    for (size_t i = 0; i < s->result_count && !status; i++) {
        const run_result *r = &s->results[i];
        bool is_default = s->has_baseline && i == s->baseline, wrong = is_wrong(r->found.outcome);
        double time_ns = time_of(r, fastest_ns);
        size_t place;
        if (is_default)
            at->baseline_ns = time_ns;
        if (time_ns > 0 && (at->best_ns == 0 || time_ns < at->best_ns))
            at->best_ns = time_ns;
        if (i >= most && !is_default && !wrong && place_of(k, r->configuration) == k->count)
            continue;
        status =
            find(k, r->configuration, s->parameters, r->values, s->parameter_count, &place, error);
        if (!status)
            k->items[place].times_ns[problem] = time_ns;
        if (!status && wrong)
            status = condemn(&k->items[place], r, error);
    }
    return status;
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

at_status known_leave_out(known *k, size_t problem, const char *why, at_error *error)
{
    free(k->problems[problem].left_out);
    k->problems[problem].left_out = strdup(*why ? why : "no variant worked");
    return k->problems[problem].left_out ? AT_OK : known_no_memory(error);
}

bool known_has_rank(const known *k, size_t configuration, size_t problem, size_t rank)
{
    double time_ns = k->items[configuration].times_ns[problem];
    size_t faster = 0;
    for (size_t i = 0; i < k->count; i++) {
        const known_configuration *c = &k->items[i];
        faster += c->times_ns[problem] > 0 && !c->condemned && c->times_ns[problem] < time_ns;
    }
    return time_ns > 0 && faster == rank;
}
