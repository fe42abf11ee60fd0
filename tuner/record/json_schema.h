/* Validates JSON against a JSON Schema (draft 2020-12).
 *
 * It knows the keywords that this project's schemas use: type, enum, const, properties, required,
 * additionalProperties, propertyNames, items, minItems, maxItems, minProperties, maxProperties,
 * minimum, exclusiveMinimum, maximum, maxLength, pattern (a POSIX extended regular expression),
 * oneOf, anyOf, allOf, $ref into "#/$defs/". It ignores others, as the standard allows. */
#ifndef AUTOTUNE_RECORD_JSON_SCHEMA_H
#define AUTOTUNE_RECORD_JSON_SCHEMA_H

#include <jansson.h>

#include "base/error.h"

/* Is called for each violation with the JSON pointer of the value and what it must be. A status
 * other than AT_OK ends the validation. */
typedef at_status json_schema_report(void *context, const char *pointer, const char *message);

/* The first status that `report` returned; AT_FORMAT for a schema that cannot be followed. */
at_status json_schema_validate(const json_t *schema, const json_t *value,
                               json_schema_report *report, void *context, at_error *error);

#endif
