#include "run/setup/pattern_json.h"

#include "base/json_text.h"

json_t *pattern_json_problem(const pattern *p, problem_kind which)
{
    json_t *object = json_object();
    for (size_t i = 0; i < p->problem_count; i++)
        json_put(&object, p->problems[which][i].name, json_from_value(p->problems[which][i].value));
    return object;
}

json_t *pattern_json_configuration(const pattern *p, const uint16_t *indices)
{
    json_t *object = json_object();
    for (size_t i = 0; i < p->parameter_count; i++)
        json_put(&object, p->parameters[i].name,
                 json_from_value(p->parameters[i].values[indices[i]]));
    return object;
}
