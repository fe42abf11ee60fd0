/* A pattern's problems and configurations in JSON: {name: value, ...}, in the script's order. New
 * references, NULL when out of memory. */
#ifndef AUTOTUNE_RUN_SETUP_PATTERN_JSON_H
#define AUTOTUNE_RUN_SETUP_PATTERN_JSON_H

#include <jansson.h>

#include "space/pattern.h"

json_t *pattern_json_problem(const pattern *p, problem_kind which);

/* `indices`: of each parameter's value. */
json_t *pattern_json_configuration(const pattern *p, const uint16_t *indices);

#endif
