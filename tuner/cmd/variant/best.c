#include "cmd/variant/best.h"

#include "cmd/line/known.h"
#include "library/pattern.h"

at_status best_find(const options *o, script *s, const arch_limits *gpu, uint16_t *indices,
                    pick_rule *rule, at_error *error)
{
    const pattern *p = script_pattern(s);
    record_set records = {0};
    record_pair pairs[RECORD_MAX_VALUES], defaults[RECORD_MAX_VALUES];
    pick_candidate found;
    if (p->problem_count > RECORD_MAX_VALUES || p->parameter_count > RECORD_MAX_VALUES)
        return error_set_at(error, AT_SCRIPT, p->path, 0,
                            "nothing is recorded of more than %d names", RECORD_MAX_VALUES);
    at_status status = known_records(o, p->name, true, &records, error);
    if (status)
        return status;
    library_check check = {.script = s};
    const record_values problem = library_problem(p, pairs),
                        fallback = library_default(p, defaults);
    const pick_target target = {.gpu = gpu->name,
                                .major = gpu->major,
                                .minor = gpu->minor,
                                .problem = &problem,
                                .fits = library_fits,
                                .ask = library_ask,
                                .context = &check,
                                .fallback = &fallback};
    *rule = pick(&records, &target, &found);
    const bool is_found = *rule != PICK_NONE && record_indices(p, found.configuration, indices);
    record_set_deinit(&records);
    if (is_found)
        return AT_OK;
    return error_set_at(
        error, AT_USAGE, p->path, 0,
        "nothing that is known is possible for this problem; 'autotune pick %s' says "
        "why",
        p->name);
}
