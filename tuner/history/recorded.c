#include "history/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/json_text.h"
#include "base/keymap.h"

at_status recorded_set_names(recorded *r, const char *const *names, size_t count, at_error *error)
{
    if (count == 0 || count > RECORDED_MAX_PARAMETERS)
        return error_set(error, AT_FORMAT, "%zu parameters: 1 to %d are understood", count,
                         RECORDED_MAX_PARAMETERS);
    r->names = malloc(count * sizeof *r->names);
    if (!r->names)
        return error_set(error, AT_NO_MEMORY, "no memory for recorded measurements");
    for (size_t p = 0; p < count; p++)
        r->names[p] = names[p];
    r->parameter_count = count;
    return AT_OK;
}

void recorded_read_problem(recorded *r, const json_t *from)
{
    static const char *const works[WORK_UNITS] = {"traffic_bytes", "flops", "items"};
    size_t used = 0;
    const char *name;
    json_t *v;
    for (int u = 0; u < WORK_UNITS; u++) {
        double amount = json_number_value(json_object_get(from, works[u]));
        r->work[u] = isfinite(amount) && amount > 0 ? amount : 0;
    }
    json_object_foreach(json_object_get(from, "problem"), name, v)
    {
        value known;
        char text[128];
        if (!json_to_value(v, &known) || used >= sizeof r->problem)
            continue;
        value_format(known, text, sizeof text);
        used += (size_t)snprintf(r->problem + used, sizeof r->problem - used, "%s%s=%s", used ? ", " : "", name, text);
    }
}

recorded_result *recorded_add(recorded *r)
{
    recorded_result *moved = array_grow(r->results, r->result_count, sizeof *moved);
    if (!moved)
        return NULL;
    r->results = moved;
    recorded_result *result = &moved[r->result_count];
    *result = (recorded_result){.values = calloc(r->parameter_count, sizeof *result->values),
                                .cost = INFINITY};
    if (!result->values)
        return NULL;
    r->result_count++;
    return result;
}

static void result_deinit(recorded_result *result)
{
    free(result->values);
    free(result->samples_ms);
}

void recorded_deinit(recorded *r)
{
    for (size_t i = 0; i < r->result_count; i++)
        result_deinit(&r->results[i]);
    free(r->results);
    free(r->names);
    json_decref(r->root);
    *r = (recorded){0};
}

/* 1.0 and 1, or -0.0 and 0, are one value: they must not be told apart by how they are written. */
static value canonical(value v)
{
    if (v.kind == VALUE_NUMBER && v.number >= -0x1p63 && v.number < 0x1p63 &&
        (double)(int64_t)v.number == v.number)
        return (value){.kind = VALUE_INTEGER, .integer = (int64_t)v.number};
    return v;
}

static uint64_t hash_values(const recorded *r, const value *values)
{
    uint64_t hash = 0;
    for (size_t p = 0; p < r->parameter_count; p++) {
        char text[64];
        int length = value_format(canonical(values[p]), text, sizeof text);
        size_t used = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
        hash = XXH3_64bits_withSeed(text, used, hash);
    }
    return hash;
}

static bool same_values(const recorded *r, const value *a, const value *b)
{
    for (size_t p = 0; p < r->parameter_count; p++)
        if (!value_equal(a[p], b[p]))
            return false;
    return true;
}

/* Keeps the first result of each configuration. */
at_status recorded_drop_repeated(recorded *r, at_error *error)
{
    at_status status = AT_OK;
    keymap seen = {0};
    size_t kept = 0;
    for (size_t i = 0; i < r->result_count; i++) {
        uint64_t key = hash_values(r, r->results[i].values), at;
        /* Another configuration of equal hash takes the next key. */
        while (keymap_get(&seen, key, &at) &&
               !same_values(r, r->results[at].values, r->results[i].values))
            key++;
        if (keymap_get(&seen, key, &at)) {
            result_deinit(&r->results[i]);
            continue;
        }
        if (!status && !keymap_put(&seen, key, kept))
            status = error_set(error, AT_NO_MEMORY, "no memory for recorded measurements");
        r->results[kept++] = r->results[i];
    }
    r->result_count = kept;
    keymap_deinit(&seen);
    return status;
}
