#include "history/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

typedef struct indexed {
    value v;
    uint16_t index;
} indexed;

/* How the space's parameters match the recorded parameters. */
typedef struct match {
    size_t parameter_count;
    size_t *place;    /* index of each parameter in the recording, or SIZE_MAX */
    indexed **values; /* for each matched parameter, its values in the space, sorted */
} match;

static int compare_indexed(const void *a, const void *b)
{
    return value_compare(((const indexed *)a)->v, ((const indexed *)b)->v);
}

static void match_deinit(match *m)
{
    for (size_t p = 0; m->values && p < m->parameter_count; p++)
        free(m->values[p]);
    free(m->values);
    free(m->place);
}

static void match_values(match *m, const space *s)
{
    for (size_t p = 0; p < m->parameter_count; p++) {
        const space_parameter *parameter = space_get_parameter(s, p);
        if (m->place[p] == SIZE_MAX)
            continue;
        m->values[p] = memory_new(parameter->value_count, sizeof *m->values[p]);
        for (size_t v = 0; v < parameter->value_count; v++)
            m->values[p][v] = (indexed){parameter->values[v], (uint16_t)v};
        qsort(m->values[p], parameter->value_count, sizeof *m->values[p], compare_indexed);
    }
}

static size_t match_names(const recorded *r, const space *s, size_t *place)
{
    size_t matched = 0;
    for (size_t p = 0; p < space_parameter_count(s); p++) {
        place[p] = SIZE_MAX;
        for (size_t i = 0; i < r->parameter_count; i++)
            if (strcmp(r->names[i], space_get_parameter(s, p)->name) == 0)
                place[p] = i;
        matched += place[p] != SIZE_MAX;
    }
    return matched;
}

static bool match_result(const recorded_result *result, const space *s, const match *m,
                         const uint16_t *otherwise, uint16_t *indices, uint64_t *index)
{
    for (size_t p = 0; p < m->parameter_count; p++) {
        indices[p] = otherwise[p];
        if (m->place[p] == SIZE_MAX)
            continue;
        const indexed wanted = {.v = result->values[m->place[p]]};
        const indexed *found =
            bsearch(&wanted, m->values[p], space_get_parameter(s, p)->value_count, sizeof *found,
                    compare_indexed);
        if (!found)
            return false;
        indices[p] = found->index;
    }
    return space_find(s, indices, index);
}

static bool holds(const warm_start *w, uint64_t configuration)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->configurations[i] == configuration)
            return true;
    return false;
}

at_status warm_start_init(warm_start *w, const recorded *r, const space *s,
                          const uint16_t *otherwise, size_t most, at_error *error)
{
    size_t parameters = space_parameter_count(s), count = 0;
    size_t room = most < r->result_count ? most : r->result_count;
    at_status status = AT_OK;
    *w = (warm_start){.configurations = memory_new(room, sizeof *w->configurations)};
    match m = {.parameter_count = parameters,
               .place = memory_new(parameters, sizeof *m.place),
               .values = memory_new(parameters, sizeof *m.values)};
    uint16_t *indices = memory_new(parameters, sizeof *indices);
    const recorded_result **all = recorded_rank(r, &count);
    if (match_names(r, s, m.place) == 0) {
        status = error_set(error, AT_NOT_FOUND,
                           "the recorded parameters (%s ...) are not parameters of the script: was "
                           "the file recorded with another pattern?",
                           r->names[0]);
        goto cleanup;
    }
    match_values(&m, s);
    for (size_t i = 0; i < count && w->count < room; i++) {
        uint64_t index;
        if (!match_result(all[i], s, &m, otherwise, indices, &index))
            w->unmatched++;
        else if (!holds(w, index))
            w->configurations[w->count++] = index;
    }

cleanup:
    match_deinit(&m);
    free(indices);
    free(all);
    if (status)
        warm_start_deinit(w);
    return status;
}

void warm_start_deinit(warm_start *w)
{
    free(w->configurations);
    *w = (warm_start){0};
}
