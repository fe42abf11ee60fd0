/* Validates JSON against a JSON Schema (draft 2020-12), and finds the line of a value in a text.
 *
 * It knows the keywords that this project's schemas use: type, enum, const, properties, required,
 * additionalProperties, propertyNames, items, minItems, maxItems, minProperties, maxProperties, minimum,
 * exclusiveMinimum, maximum, maxLength, pattern (a POSIX extended regular expression), oneOf, anyOf, $ref
 * into "#/$defs/". It ignores others, as the standard allows. */
#ifndef AUTOTUNE_RECORD_JSON_SCHEMA_H
#define AUTOTUNE_RECORD_JSON_SCHEMA_H

#include <jansson.h>

#include "base/error.h"

/* Is called for each violation with the JSON pointer of the value and what it must be. A status other than
 * AT_OK ends the validation. */
typedef at_status json_schema_report(void *context, const char *pointer, const char *message);

/* The first status that `report` returned; AT_FORMAT for a schema that cannot be followed. */
at_status json_schema_validate(const json_t *schema, const json_t *value, json_schema_report *report,
                               void *context, at_error *error);

/* The line, from 1, on which the value of the pointer begins in a text that is valid JSON; of a member that is
 * not there, that of the last value on the way. */
int json_pointer_line(const char *text, const char *pointer);

#endif
