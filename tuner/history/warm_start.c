#include "history/warm_start.h"

#include <stdlib.h>
#include <string.h>

/* For each of the space's parameters its place in the recording; SIZE_MAX: it has none. */
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

/* Finds the recorded configuration in the space. */
static bool match_result(const recorded_result *result, const space *s, const size_t *place,
                         const uint16_t *otherwise, uint16_t *indices, uint64_t *index)
{
    for (size_t p = 0; p < space_parameter_count(s); p++) {
        const space_parameter *parameter = space_get_parameter(s, p);
        indices[p] = otherwise[p];
        if (place[p] == SIZE_MAX)
            continue;
        size_t v = 0;
        while (v < parameter->value_count &&
               !value_equal(parameter->values[v], result->values[place[p]]))
            v++;
        if (v == parameter->value_count)
            return false;
        indices[p] = (uint16_t)v;
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
    *w = (warm_start){.configurations = malloc((room + 1) * sizeof *w->configurations),
                      .costs = malloc((room + 1) * sizeof *w->costs)};
    size_t *place = malloc((parameters + 1) * sizeof *place);
    uint16_t *indices = malloc((parameters + 1) * sizeof *indices);
    const recorded_result **all = recorded_rank(r, &count);
    if (!w->configurations || !w->costs || !place || !indices || !all) {
        status = error_set(error, AT_NO_MEMORY, "no memory for a warm start");
        goto cleanup;
    }
    if (match_names(r, s, place) == 0) {
        status = error_set(error, AT_NOT_FOUND,
                           "none of the recorded parameters (%s ...) is one of the script's",
                           r->names[0]);
        goto cleanup;
    }
    for (size_t i = 0; i < count && w->count < room; i++) {
        uint64_t index;
        if (!match_result(all[i], s, place, otherwise, indices, &index)) {
            w->unmatched++;
        } else if (!holds(w, index)) {
            w->configurations[w->count] = index;
            w->costs[w->count++] = all[i]->cost;
        }
    }

cleanup:
    free(place);
    free(indices);
    free(all);
    if (status)
        warm_start_deinit(w);
    return status;
}

void warm_start_deinit(warm_start *w)
{
    free(w->configurations);
    free(w->costs);
    *w = (warm_start){0};
}
