#include "history/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/json_text.h"
#include "base/keymap.h"
#include "base/memory.h"
#include "base/text.h"

at_status recorded_set_names(recorded *r, const char *const *names, size_t count, at_error *error)
{
    if (count == 0 || count > RECORDED_MAX_PARAMETERS)
        return error_set(error, AT_FORMAT, "%zu parameters: 1 to %d are supported", count,
                         RECORDED_MAX_PARAMETERS);
    r->names = memory_copy(names, count, sizeof *r->names);
    r->parameter_count = count;
    return AT_OK;
}

void recorded_read_problem(recorded *r, const json_t *from)
{
    static const char *const works[WORK_UNITS] = {"traffic_bytes", "flops", "items"};
    const char *name;
    json_t *v;
    for (int u = 0; u < WORK_UNITS; u++)
        r->work[u] = recorded_positive(from, works[u]);
    json_object_foreach(json_object_get(from, "problem"), name, v)
    {
        value known;
        char text[128];
        if (!json_to_value(v, &known))
            continue;
        value_format(known, text, sizeof text);
        text_add(r->problem, sizeof r->problem, "%s%s=%s", *r->problem ? ", " : "", name, text);
    }
}

recorded_result *recorded_add(recorded *r)
{
    const recorded_result result = {.values = memory_new(r->parameter_count, sizeof *result.values),
                                    .cost = INFINITY};
    memory_add(&r->results, &r->result_count, &result, sizeof result);
    return &r->results[r->result_count - 1];
}

at_status recorded_read_names(recorded *r, const json_t *configuration, const char *path,
                              const char *missing, at_error *error)
{
    const char *names[RECORDED_MAX_PARAMETERS];
    size_t count = 0;
    for (void *i = json_object_iter((json_t *)(uintptr_t)configuration); i;
         i = json_object_iter_next((json_t *)(uintptr_t)configuration, i)) {
        if (count == RECORDED_MAX_PARAMETERS)
            return error_set_at(error, AT_FORMAT, path, 0, "more than %d parameters",
                                RECORDED_MAX_PARAMETERS);
        names[count++] = json_object_iter_key(i);
    }
    if (count == 0)
        return error_set_at(error, AT_FORMAT, path, 0, "%s", missing);
    return recorded_set_names(r, names, count, error);
}

at_status recorded_read_values(recorded *r, const json_t *configuration, const char *path,
                               const char *which, recorded_result **out, at_error *error)
{
    *out = recorded_add(r);
    for (size_t p = 0; p < r->parameter_count; p++)
        if (!json_to_value(json_object_get(configuration, r->names[p]), &(*out)->values[p]))
            return error_set_at(error, AT_FORMAT, path, 0, "%s has no value for '%s'", which,
                                r->names[p]);
    return AT_OK;
}

static double positive(const json_t *j)
{
    double v = json_number_value(j);
    return isfinite(v) && v > 0 ? v : 0;
}

void recorded_read_samples(recorded_result *result, const json_t *list)
{
    size_t count = json_array_size(list);
    if (count == 0)
        return;
    result->samples_ms = memory_new(count, sizeof *result->samples_ms);
    for (size_t i = 0; i < count; i++) {
        double sample_ms = positive(json_array_get(list, i));
        result->samples_ms[result->sample_count] = sample_ms;
        result->sample_count += sample_ms > 0;
    }
}

double recorded_positive(const json_t *object, const char *name)
{
    return positive(json_object_get(object, name));
}

const char *recorded_text(const json_t *object, const char *name, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : otherwise;
}

static int compare_values(const void *a, const void *b)
{
    return value_compare(*(const value *)a, *(const value *)b);
}

size_t recorded_sort_values(value *all, size_t count)
{
    size_t different = 0;
    qsort(all, count, sizeof *all, compare_values);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || !value_equal(all[i], all[different - 1]))
            all[different++] = all[i];
    return different;
}

size_t recorded_place_of(const value *v, const value *sorted, size_t count)
{
    const value *at = bsearch(v, sorted, count, sizeof *v, compare_values);
    return at ? (size_t)(at - sorted) : count;
}

value *recorded_values_of(const recorded *r, size_t p, size_t *count)
{
    value *all = memory_new(r->result_count, sizeof *all);
    for (size_t i = 0; i < r->result_count; i++)
        all[i] = r->results[i].values[p];
    *count = recorded_sort_values(all, r->result_count);
    return all;
}

static int compare_costs(const void *left, const void *right)
{
    const recorded_result *a = *(const recorded_result *const *)left,
                          *b = *(const recorded_result *const *)right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a < b ? -1 : a > b;
}

const recorded_result **recorded_rank(const recorded *r, size_t *count)
{
    const recorded_result **all = memory_new(r->result_count, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < r->result_count; i++)
        if (isfinite(r->results[i].cost))
            all[(*count)++] = &r->results[i];
    qsort(all, *count, sizeof *all, compare_costs);
    return all;
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
        char number[64];
        const char *text = values[p].string;
        if (values[p].kind != VALUE_STRING) {
            value_format(canonical(values[p]), number, sizeof number);
            text = number;
        }
        hash = XXH3_64bits_withSeed(text, strlen(text), hash);
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
void recorded_drop_repeated(recorded *r)
{
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
        memory_have(keymap_put(&seen, key, kept) ? r : NULL);
        r->results[kept++] = r->results[i];
    }
    r->result_count = kept;
    keymap_deinit(&seen);
}
