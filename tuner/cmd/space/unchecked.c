#include "cmd/space/unchecked.h"

at_status count_unchecked(script *s, const space *sp, uint64_t *out, at_error *error)
{
    const pattern *p = script_pattern(s);
    space *ragged[PATTERN_MAX_RAGGED] = {0};
    uint16_t indices[PATTERN_MAX_PARAMETERS];
    at_status status = AT_OK;
    *out = 0;
    for (size_t i = 0; !status && i < p->ragged_count; i++) {
        at_error none = {0};
        status = script_space(s, (problem_kind)(PROBLEM_RAGGED + i), &ragged[i], &none);
        /* An empty space accepts no value. */
        if (status == AT_SCRIPT)
            status = AT_OK;
        else if (status)
            *error = none;
    }
    for (uint64_t i = 0; !status && p->ragged_count > 0 && i < space_count(sp); i++) {
        bool checked = false;
        uint64_t at;
        space_at(sp, i, indices);
        for (size_t k = 0; !checked && k < p->ragged_count; k++)
            checked = ragged[k] && space_find(ragged[k], indices, &at);
        *out += !checked;
    }
    for (size_t i = 0; i < PATTERN_MAX_RAGGED; i++)
        space_free(ragged[i]);
    return status;
}
