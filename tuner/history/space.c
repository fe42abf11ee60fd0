#include "history/space.h"

#include <stdlib.h>

#include <xxhash.h>

#include "base/array.h"
#include "base/memory.h"

/* The prefixes of the recorded configurations: constraint n holds for a prefix of n + 1 values that
 * some recorded configuration begins with, so that the space is built without walking the
 * product. */
typedef struct prefixes {
    size_t parameter_count;
    keymap *known; /* for each length, hashes of value indices */
} prefixes;

static uint64_t hash_prefix(const uint16_t *indices, size_t length)
{
    return XXH3_64bits(indices, length * sizeof *indices);
}

static at_status test_prefix(void *context, const space_question *q, bool *holds, at_error *error)
{
    (void)error;
    const prefixes *p = context;
    for (size_t i = 0; i < q->count; i++) {
        uint64_t ignored;
        q->indices[q->varied] = q->choices[i];
        holds[i] = keymap_get(&p->known[q->constraint], hash_prefix(q->indices, q->constraint + 1),
                              &ignored);
    }
    return AT_OK;
}

static uint16_t index_of(const space_parameter *parameter, const value *v)
{
    size_t at = recorded_place_of(v, parameter->values, parameter->value_count);
    return at < parameter->value_count ? (uint16_t)at : 0;
}

static void indices_of(const recorded_space *rs, const recorded *r, size_t result,
                       uint16_t *indices)
{
    for (size_t p = 0; p < r->parameter_count; p++)
        indices[p] = index_of(&rs->parameters[p], &r->results[result].values[p]);
}

static void collect_parameters(recorded_space *rs, const recorded *r)
{
    rs->parameters = memory_new(r->parameter_count, sizeof *rs->parameters);
    rs->values = memory_new(r->parameter_count, sizeof *rs->values);
    rs->parameter_count = r->parameter_count;
    for (size_t p = 0; p < r->parameter_count; p++) {
        rs->values[p] = recorded_values_of(r, p, &rs->parameters[p].value_count);
        rs->parameters[p].name = r->names[p];
        rs->parameters[p].values = rs->values[p];
    }
}

static void collect_prefixes(prefixes *known, const recorded_space *rs, const recorded *r)
{
    for (size_t i = 0; i < r->result_count; i++) {
        uint16_t indices[RECORDED_MAX_PARAMETERS];
        indices_of(rs, r, i, indices);
        for (size_t n = 0; n < r->parameter_count; n++)
            memory_have(keymap_put(&known->known[n], hash_prefix(indices, n + 1), 0) ? known
                                                                                     : NULL);
    }
}

static at_status make_space(recorded_space *rs, const recorded *r, at_error *error)
{
    size_t count = r->parameter_count;
    size_t places[RECORDED_MAX_PARAMETERS];
    prefixes known = {.parameter_count = count, .known = memory_new(count, sizeof *known.known)};
    space_constraint *constraints = memory_new(count, sizeof *constraints);
    collect_parameters(rs, r);
    collect_prefixes(&known, rs, r);
    for (size_t n = 0; n < count; n++) {
        places[n] = n;
        constraints[n] =
            (space_constraint){.text = "recorded", .parameters = places, .parameter_count = n + 1};
    }
    at_status status = space_new(rs->parameters, count, constraints, count, test_prefix, &known, 0,
                                 &rs->space, error);
    for (size_t n = 0; n < count; n++)
        keymap_deinit(&known.known[n]);
    free(known.known);
    free(constraints);
    return status;
}

static at_status fill_costs(recorded_space *rs, const recorded *r, at_error *error)
{
    rs->count = space_count(rs->space);
    /* Only a collision of 64-bit hashes could make a configuration that was never recorded. */
    if (rs->count != r->result_count)
        return error_set(error, AT_INTERNAL, "the recorded space has %llu configurations, not %zu",
                         (unsigned long long)rs->count, r->result_count);
    rs->cost = memory_new(rs->count, sizeof *rs->cost);
    rs->elapsed_s = memory_new(rs->count, sizeof *rs->elapsed_s);
    rs->result = memory_new(rs->count, sizeof *rs->result);
    for (size_t i = 0; i < r->result_count; i++) {
        const recorded_result *result = &r->results[i];
        uint16_t indices[RECORDED_MAX_PARAMETERS];
        uint64_t index;
        indices_of(rs, r, i, indices);
        if (!space_find(rs->space, indices, &index))
            return error_set(error, AT_INTERNAL, "a recorded configuration is not in its space");
        rs->cost[index] = result->cost;
        rs->elapsed_s[index] = result->elapsed_s;
        rs->result[index] = i;
    }
    return AT_OK;
}

at_status recorded_space_init(recorded_space *rs, const recorded *r, at_error *error)
{
    *rs = (recorded_space){0};
    at_status status = make_space(rs, r, error);
    if (!status)
        status = fill_costs(rs, r, error);
    if (status)
        recorded_space_deinit(rs);
    return status;
}

void recorded_space_deinit(recorded_space *rs)
{
    space_free(rs->space);
    for (size_t p = 0; p < rs->parameter_count; p++)
        free(rs->values[p]);
    free(rs->values);
    free(rs->parameters);
    free(rs->cost);
    free(rs->elapsed_s);
    free(rs->result);
    *rs = (recorded_space){0};
}
